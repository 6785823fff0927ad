#include "harness/evidence/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "harness/evidence/noise.hpp"
#include "harness/learn/guesses.hpp"
#include "harness/learn/in_family.hpp"
#include "harness/records/disturbance.hpp"
#include "harness/records/roofline.hpp"
#include "harness/text/printable.hpp"
#include "harness/text/sha256.hpp"
#include "kernels/core/registry.hpp"

namespace espalier::bench::learn {
namespace {

/// Share of a family's problems that may be left out because others disturbed them. Without a random quarter of the
/// problems of results/cpu-graniterapids-avx512vnni-2t a family's tree costs at most 1.2% more on all of them, without
/// half of them up to 3.3% (histogram).
constexpr double kMostDisturbed = 0.25;

/// Text from a results file as a message may show it.
std::string shown(std::string_view text) { return "'" + printable(text, 80) + "'"; }

[[noreturn]] void refuse(const std::string& what, const std::string& fix) { throw BadEvidence(what + "; " + fix); }

/// A record with its names resolved to the registry's indices.
struct Row {
    const CaseRecord* record;
    std::string problem;  ///< canonical
    Candidate candidate;
};

bool not_asked_for(const CaseRecord& record) {
    return record.status == Status::not_measured && record.reason == kNotAskedFor;
}

class Reader {
public:
    Reader(const Family& family, const DeviceInfo& device, const EvidenceOptions& options)
        : family_(family), device_(device), options_(options), excluded_(family.variants().size()) {}

    Evidence read(std::span<const CaseRecord> records) {
        for (const CaseRecord& record : records) take(record);
        if (rows_.empty())
            refuse("no record of " + name() + " belongs to a variant of this build",
                   "run `espalier sweep --family " + std::string(family_.name()) + "`");
        std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return order(a) < order(b); });
        refuse_duplicates();
        evidence_.driver = common("drivers", &Provenance::driver);
        evidence_.runtime = common("runtimes", &Provenance::runtime);
        static_cast<void>(common("builds", &Provenance::build));
        exclude_failed_variants();
        note_stale_sources();
        if (!options_.allow_disturbed) leave_out_disturbed();
        evidence_.data_sha256 = digest();
        adaptive_ = std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return not_asked_for(*row.record); });
        choose_candidates();
        choose_problems();
        fill();
        return std::move(evidence_);
    }

private:
    using Order = std::tuple<std::string_view, std::size_t, std::size_t>;
    static Order order(const Row& row) { return {row.problem, row.candidate.variant, row.candidate.configuration}; }

    std::string name() const { return std::string(family_.name()) + " on " + device_.key; }
    void notice(std::string text) {
        if (options_.strict) refuse(name() + ": " + text, "drop --strict to train on the rest");
        evidence_.notices.push_back(std::move(text));
    }

    void take(const CaseRecord& record) {
        if (record.family != family_.name())
            refuse("a record of family " + shown(record.family) + " in " + name(), kMerge);
        if (record.provenance.device_key != device_.key)
            refuse("a record of device " + shown(record.provenance.device_key) + " in the results of " + name(),
                   kMerge);
        const auto candidate = resolve(record);
        if (!candidate) return;
        const VariantInfo& variant = family_.variants()[candidate->variant];
        if (variant.kind != device_.kind) return refuse_kind(variant);
        if (variant.role == Role::peer) return;
        check_source_id(record);
        if (record.status == Status::ok) check_time(record);
        rows_.push_back({&record, canonical(record), *candidate});
    }

    std::optional<Candidate> resolve(const CaseRecord& record) {
        const std::size_t variant = family_.find(record.variant);
        if (variant == Family::npos) {
            if (record.role != "peer" && unknown_.insert(record.variant).second)
                notice("skipped records of " + shown(record.variant) + ", which is no variant of this build");
            return std::nullopt;
        }
        const VariantInfo& info = family_.variants()[variant];
        if (!info.foreign.empty())
            throw ForeignEvidence(name() + " has times of " + std::string(info.name) + ", which " +
                                  foreign_reason(info.foreign) + "; train it on a machine of that kind");
        const auto& configurations = info.configurations;
        for (std::size_t i = 0; i < configurations.size(); ++i)
            if (configurations[i].text() == record.configuration) return Candidate{variant, i};
        if (unknown_.insert(record.variant + " " + record.configuration).second)
            notice("skipped records of " + std::string(info.name) + " with configuration " +
                   shown(record.configuration) + ", which this build does not offer");
        return std::nullopt;
    }

    [[noreturn]] void refuse_kind(const VariantInfo& variant) const {
        refuse("a record of " + std::string(variant.name) + ", which runs on a " +
                   std::string(to_string(variant.kind)) + " device, in the results of " + name(),
               kMerge);
    }

    /// What the records agree on; all of it, in order, where they need not.
    std::string common(const char* what, std::string Provenance::*member) const {
        std::set<std::string> values;
        for (const Row& row : rows_) values.insert(row.record->provenance.*member);
        if (values.size() > 1 && !options_.allow_mixed)
            refuse(name() + " has times of " + std::to_string(values.size()) + " " + what + ", " +
                       shown(*values.begin()) + " and " + shown(*std::next(values.begin())) + " among them",
                   "sweep again or train on the mixture with --allow-mixed");
        std::string joined;
        for (const std::string& value : values) joined += (joined.empty() ? "" : ", ") + value;
        return joined;
    }

    static void check_source_id(const CaseRecord& record) {
        const std::string& id = record.provenance.source_id;
        if (id.size() != 64 || id.find_first_not_of("0123456789abcdef") != std::string::npos)
            refuse("a record of " + shown(record.variant) + " whose source identity " + shown(id) + " is no SHA-256",
                   "sweep again");
    }

    void check_time(const CaseRecord& record) const {
        if (const auto why = implausible(record, device_))
            refuse("an implausible time of " + shown(record.variant) + " for " + shown(record.problem) + ": " + *why,
                   "sweep again");
    }

    std::string canonical(const CaseRecord& record) const {
        try {
            return family_.canonical(record.problem);
        } catch (const BadProblem& error) {
            refuse("a record for " + shown(record.problem) + ", which is no problem of " + std::string(family_.name()) +
                       " in this build",
                   "sweep again");
        }
    }

    void refuse_duplicates() const {
        for (std::size_t i = 1; i < rows_.size(); ++i)
            if (order(rows_[i - 1]) == order(rows_[i]))
                refuse("two records of " + name_of(family_, rows_[i].candidate) + " for " + rows_[i].problem + " in " +
                           name(),
                       kMerge);
    }

    void exclude_failed_variants() {
        std::map<std::size_t, std::pair<int, int>> failures;  // by variant: wrong, crashed
        for (const Row& row : rows_) {
            if (row.record->status == Status::wrong) ++failures[row.candidate.variant].first;
            if (row.record->status == Status::crashed) ++failures[row.candidate.variant].second;
        }
        for (const auto& [variant, count] : failures) {
            const VariantInfo& info = family_.variants()[variant];
            const std::string what = std::string(info.name) + " was wrong in " + std::to_string(count.first) +
                                     " and crashed in " + std::to_string(count.second) + " cases";
            if (info.role == Role::baseline)
                refuse(name() + ": the baseline " + what, "mend it and sweep again: every ranking ends in it");
            excluded_[variant] = true;
            evidence_.notices.push_back(what + ": it cannot be chosen");
        }
    }

    void note_stale_sources() {
        const auto variants = family_.variants();
        evidence_.source_ids.resize(variants.size());
        std::set<std::size_t> stale;
        for (const Row& row : rows_) {
            const std::string& measured = row.record->provenance.source_id;
            evidence_.source_ids[row.candidate.variant] = measured;
            if (measured != variants[row.candidate.variant].source_id) stale.insert(row.candidate.variant);
        }
        for (const std::size_t v : stale)
            notice("the source of " + std::string(variants[v].name) +
                   " has changed since it was measured: sweep again");
    }

    /// How many problems have times, and of those that were disturbed the first disturbance of each.
    std::pair<std::size_t, std::map<std::string, Disturbance>> find_disturbed() const {
        std::set<std::string_view> problems;
        std::map<std::string, Disturbance> disturbed;
        for (const Row& row : rows_) {
            if (row.record->status != Status::ok) continue;
            problems.insert(row.problem);
            if (const auto disturbance = disturbance_of(row.record->conditions))
                disturbed.emplace(row.problem, *disturbance);
        }
        return {problems.size(), std::move(disturbed)};
    }

    void leave_out_disturbed() {
        const auto [problems, disturbed] = find_disturbed();
        if (disturbed.empty()) return;
        std::vector<Disturbance> list;
        for (const auto& [problem, disturbance] : disturbed) list.push_back(disturbance);
        const std::string cause = describe(*typical(list)) + " (median)";
        const double share = static_cast<double>(disturbed.size()) / static_cast<double>(problems);
        if (share > kMostDisturbed)
            refuse(fmt::format("{:.0f}% of the problems of {} were measured while {}", 100 * share, name(), cause),
                   "sweep again on a quiet machine, or train all the same with --allow-disturbed");
        std::erase_if(rows_, [&disturbed](const Row& row) { return disturbed.contains(row.problem); });
        notice(
            fmt::format("left out {} of {} problems, which were measured while {}", disturbed.size(), problems, cause));
    }

    /// Of nothing but what training uses: other reasons, counters and conditions are free to differ.
    std::string digest() const {
        HashedItems hash;
        for (const Row& row : rows_) {
            const CaseRecord& r = *row.record;
            hash.text(row.problem).text(r.variant).text(r.configuration).text(to_string(r.status));
            hash.text(r.provenance.source_id).text(r.provenance.session);
            if (not_asked_for(r)) hash.text(kNotAskedFor);
            if (r.status != Status::ok) continue;
            hash.number(r.time_ns)
                .number(r.time_lo_ns)
                .number(r.time_hi_ns)
                .number(static_cast<double>(r.samples_ns.size()));
            for (const double sample : r.samples_ns) hash.number(sample);
        }
        return sha256(hash.bytes);
    }

    /// In the registry's order: the choices that were measured at least once, and the baseline.
    void choose_candidates() {
        std::set<std::pair<std::size_t, std::size_t>> measured;
        for (const Row& row : rows_)
            if (row.record->status == Status::ok && !excluded_[row.candidate.variant])
                measured.emplace(row.candidate.variant, row.candidate.configuration);
        const std::size_t baseline = family_.baseline(device_.kind);
        if (baseline == Family::npos)
            refuse(name() + ": the family has no baseline", "give one variant Role::baseline");
        measured.emplace(baseline, 0);
        Matrix& matrix = evidence_.matrix;
        for (const auto& [variant, configuration] : measured) {
            if (variant == baseline && configuration == 0) matrix.baseline = matrix.candidates.size();
            matrix.candidates.push_back({variant, configuration});
        }
    }

    /// What there is of one problem.
    struct Coverage {
        std::size_t present = 0;  ///< choices with a record
        bool any = false;         ///< something was measured, or an adaptive sweep had no use for it
        bool baseline = false;    ///< it was tried
    };

    Coverage coverage(std::span<const Row> rows) const {
        const Matrix& matrix = evidence_.matrix;
        Coverage found;
        bool baseline_left_out = false;
        for (const Row& row : rows) {
            if (!index_of(row.candidate)) continue;
            const Status status = row.record->status;
            ++found.present;
            found.any |= status == Status::ok || (adaptive_ && status == Status::not_measured);
            if (row.candidate != matrix.candidates[matrix.baseline]) continue;
            (status == Status::not_measured ? baseline_left_out : found.baseline) = true;
        }
        found.baseline |= baseline_left_out && found.any;
        return found;
    }

    /// The problems to train on, once holes are accounted for.
    void choose_problems() {
        Matrix& matrix = evidence_.matrix;
        std::size_t problems = 0, missing_rows = 0, with_holes = 0, without_baseline = 0, without_any = 0;
        std::string example;
        for (std::span<const Row> left = rows_; !left.empty(); ++problems) {
            const std::string& problem = left.front().problem;
            const auto last = std::ranges::find_if(left, [&](const Row& r) { return r.problem != problem; });
            const auto [present, any, baseline] = coverage(left.first(static_cast<std::size_t>(last - left.begin())));
            const std::size_t holes = matrix.candidates.size() - present;
            if ((holes > 0 || !baseline) && example.empty()) example = problem;
            missing_rows += holes;
            with_holes += holes > 0 && baseline;
            without_baseline += !baseline;
            without_any += baseline && !any;
            if (any && baseline && (holes == 0 || options_.allow_partial)) matrix.problems.push_back(problem);
            left = left.subspan(static_cast<std::size_t>(last - left.begin()));
        }
        if (const std::size_t incomplete = with_holes + without_baseline; incomplete > 0) {
            std::string what = fmt::format("{} cases have no record and {} problems no time of the baseline, e.g. {}",
                                           missing_rows, without_baseline, example);
            if (!options_.allow_partial && 2 * incomplete > problems)
                refuse(name() + " is incomplete: " + what,
                       "merge the missing shards, resume the sweep, or train on the rest with --allow-partial");
            if (!options_.allow_partial)
                what = fmt::format("{} of {} problems are left out: {}", incomplete, problems, what);
            evidence_.notices.push_back("incomplete: " + what);
        }
        if (without_any > 0)
            evidence_.notices.push_back(std::to_string(without_any) +
                                        " problems that nothing could compute are left out");
        if (matrix.problems.empty()) refuse(name() + " has no problem with a measured baseline", "sweep again");
    }

    std::optional<std::size_t> index_of(const Candidate& candidate) const {
        const auto& all = evidence_.matrix.candidates;
        const auto at = std::find(all.begin(), all.end(), candidate);
        return at == all.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - all.begin()));
    }

    void leave_out_absent_columns() {
        Matrix& matrix = evidence_.matrix;
        const auto defaults = family_.feature_values("");
        for (std::size_t f = 0; f < defaults.size(); ++f) {
            matrix.columns[f].optional = family_.features()[f].optional;
            bool varies = !matrix.columns[f].optional;
            for (std::size_t p = 0; p < matrix.rows() && !varies; ++p) varies = matrix.value(p, f) != defaults[f];
            matrix.columns[f].absent = !varies;
        }
    }

    void fill() {
        Matrix& matrix = evidence_.matrix;
        matrix.columns = columns_of(family_);
        const std::size_t cells = matrix.rows() * matrix.candidates.size();
        matrix.states.assign(cells, CellState::missing);
        matrix.slowdown.assign(cells, 0);
        matrix.loss.assign(cells, kInfeasible);
        auto row = rows_.begin();
        for (std::size_t p = 0; p < matrix.rows(); ++p) {
            const auto values = values_of(matrix.columns, family_.feature_values(matrix.problems[p]));
            if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
                refuse(matrix.problems[p] + " has a feature that is not finite", "mend features() of " + name());
            matrix.values.insert(matrix.values.end(), values.begin(), values.end());
            while (row->problem != matrix.problems[p]) ++row;
            std::vector<const CaseRecord*> records(matrix.candidates.size());
            for (; row != rows_.end() && row->problem == matrix.problems[p]; ++row)
                if (const auto c = index_of(row->candidate)) records[*c] = row->record;
            fill_problem(p, records);
            for (const CaseRecord* record : records)
                matrix.log_times.push_back(record && record->status == Status::ok ? std::log(record->time_ns) : NAN);
        }
        leave_out_absent_columns();
        const std::size_t guessed = matrix.count(CellState::guessed);
        if (guessed == 0) return matrix.log_times.clear();
        enter_guesses(matrix, matrix.all());
        notice(std::to_string(guessed) + " of " + std::to_string(guessed + matrix.count(CellState::measured)) +
               " times are guesses of forests: " +
               (adaptive_ ? "an adaptive sweep measured the others" : "the sweep's time did not suffice for them"));
    }

    void fill_problem(std::size_t problem, const std::vector<const CaseRecord*>& records) {
        Matrix& matrix = evidence_.matrix;
        const auto measured = [](const CaseRecord* r) { return r && r->status == Status::ok; };
        const CaseRecord* best = nullptr;
        for (const CaseRecord* record : records)
            if (measured(record) && (!best || record->time_ns < best->time_ns)) best = record;
        std::vector<double> logs(records.size(), NAN);
        for (std::size_t c = 0; c < records.size(); ++c) {
            CellState& state = matrix.states[problem * records.size() + c];
            if (measured(records[c]))
                state = CellState::measured, logs[c] = std::log(records[c]->time_ns / best->time_ns);
            else if (!supports(family_, device_, matrix.problems[problem], matrix.candidates[c]))
                state = c == matrix.baseline ? CellState::missing : CellState::unsupported;
            else
                state =
                    records[c] && records[c]->status == Status::not_measured ? CellState::guessed : CellState::missing;
        }
        enter_costs(matrix, problem, logs, [&](std::size_t c, double) {
            return records[c] == best || indistinguishable(*records[c], *best, options_.noise_floor);
        });
    }

    static constexpr const char* kMerge = "rebuild the results with `espalier merge`";

    const Family& family_;
    const DeviceInfo& device_;
    const EvidenceOptions& options_;
    std::vector<bool> excluded_;
    bool adaptive_ = false;  ///< an adaptive sweep had no use for some of the cases
    std::vector<Row> rows_;
    std::set<std::string> unknown_;
    Evidence evidence_;
};

}  // namespace

Evidence read_evidence(const Family& family, const DeviceInfo& device, std::span<const CaseRecord> records,
                       const EvidenceOptions& options) {
    return Reader(family, device, options).read(records);
}

}  // namespace espalier::bench::learn
