#include "harness/bench/evidence/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "harness/base/text/printable.hpp"
#include "harness/base/text/sha256.hpp"
#include "harness/bench/learn/in_family.hpp"
#include "harness/bench/records/disturbance.hpp"
#include "harness/bench/records/roofline.hpp"
#include "kernels/core/registry.hpp"

namespace espalier::bench::learn {
namespace {

/// Share of a family's problems that may be left out because others disturbed them. Without a random quarter of the
/// problems of results/cpu-graniterapids-avx512vnni-2t a family's tree costs at most 1.2% more on all of them, without
/// half of them up to 3.3% (histogram).
constexpr double kMostDisturbed = 0.25;

/// Text from a results file as a message may show it.
std::string shown(std::string_view text) { return "'" + printable(text, 80) + "'"; }

class RowReader {
public:
    explicit RowReader(Reading& reading)
        : reading_(reading),
          family_(reading.family),
          device_(reading.device),
          options_(reading.options),
          rows_(reading.rows),
          evidence_(reading.evidence) {
        reading.excluded.resize(family_.variants().size());
    }

    void read(std::span<const CaseRecord> records) {
        for (const CaseRecord& record : records) take(record);
        if (rows_.empty())
            refuse("no record of " + reading_.name() + " belongs to a variant of this build",
                   "run `espalier sweep --family " + std::string(family_.name()) + "`");
        std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return order(a) < order(b); });
        refuse_duplicates();
        static_cast<void>(common("drivers", [](const Provenance& p) { return std::string(timed_driver(p)); }));
        evidence_.driver = joined(values_of([](const Provenance& p) { return p.driver; }));
        evidence_.runtime = common("runtimes", [](const Provenance& p) { return p.runtime; });
        static_cast<void>(common("builds", [&](const Provenance& p) { return timed_build(p, device_.kind); }));
        exclude_failed_variants();
        note_stale_sources();
        if (!options_.allow_disturbed) leave_out_disturbed();
        evidence_.data_sha256 = digest();
    }

private:
    using Order = std::tuple<std::string_view, std::size_t, std::size_t>;
    static Order order(const Row& row) { return {row.problem, row.candidate.variant, row.candidate.configuration}; }

    void take(const CaseRecord& record) {
        if (record.family != family_.name())
            refuse("a record of family " + shown(record.family) + " in " + reading_.name(), kMerge);
        if (record.provenance.device_key != device_.key)
            refuse(
                "a record of device " + shown(record.provenance.device_key) + " in the results of " + reading_.name(),
                kMerge);
        const auto candidate = resolve(record);
        if (!candidate) return;
        const VariantInfo& variant = family_.variants()[candidate->variant];
        if (variant.kind != device_.kind) return refuse_kind(variant);
        if (!variant.choosable()) return;
        check_source_id(record);
        if (record.status == Status::ok) check_time(record);
        rows_.push_back({&record, canonical(record), *candidate});
    }

    std::optional<Choice> resolve(const CaseRecord& record) {
        const std::size_t variant = family_.find(record.variant);
        if (variant == Family::npos) {
            if (record.role != "peer" && unknown_.insert(record.variant).second)
                reading_.notice("skipped records of " + shown(record.variant) + ", which is no variant of this build");
            return std::nullopt;
        }
        const VariantInfo& info = family_.variants()[variant];
        if (!info.foreign.empty())
            throw ForeignEvidence(reading_.name() + " has times of " + std::string(info.name) + ", which " +
                                  foreign_reason(info.foreign) + "; train it on a machine of that kind");
        const auto& configurations = info.configurations;
        for (std::size_t i = 0; i < configurations.size(); ++i)
            if (configurations[i].text() == record.configuration) return Choice{variant, i};
        if (unknown_.insert(record.variant + " " + record.configuration).second)
            reading_.notice("skipped records of " + std::string(info.name) + " with configuration " +
                            shown(record.configuration) + ", which this build does not offer");
        return std::nullopt;
    }

    [[noreturn]] void refuse_kind(const VariantInfo& variant) const {
        refuse("a record of " + std::string(variant.name) + ", which runs on a " +
                   std::string(to_string(variant.kind)) + " device, in the results of " + reading_.name(),
               kMerge);
    }

    template <class Value>
    std::set<std::string> values_of(Value value_of) const {
        std::set<std::string> values;
        for (const Row& row : rows_) values.insert(value_of(row.record->provenance));
        return values;
    }

    static std::string joined(const std::set<std::string>& values) {
        std::string text;
        for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
        return text;
    }

    /// The value that the records agree on; all of their values, in order, where they need not agree.
    template <class Value>
    std::string common(const char* what, Value value_of) const {
        const std::set<std::string> values = values_of(value_of);
        if (values.size() > 1 && !options_.allow_mixed)
            refuse(reading_.name() + " has times of " + std::to_string(values.size()) + " " + what + ", " +
                       shown(*values.begin()) + " and " + shown(*std::next(values.begin())) + " among them",
                   "sweep again or train on the mixture with --allow-mixed");
        return joined(values);
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
                           reading_.name(),
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
                refuse(reading_.name() + ": the baseline " + what, "mend it and sweep again: every ranking ends in it");
            reading_.excluded[variant] = true;
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
        std::erase_if(stale, [&](std::size_t v) {
            return is_known(options_.known_stale, {.family = std::string(family_.name()),
                                                   .variant = std::string(variants[v].name),
                                                   .source_id = std::string(variants[v].source_id)});
        });
        for (const std::size_t v : stale)
            reading_.notice("the source of " + std::string(variants[v].name) +
                            " has changed since it was measured: sweep again");
    }

    void leave_out_disturbed() {
        DisturbedProblems disturbed;
        for (const Row& row : rows_) disturbed.add(row.problem, *row.record);
        if (disturbed.count() == 0) return;
        const std::string cause = describe(*disturbed.disturbance()) + " (median)";
        const double share = static_cast<double>(disturbed.count()) / static_cast<double>(disturbed.problems());
        if (share > kMostDisturbed)
            refuse(fmt::format("{:.0f}% of the problems of {} were measured while {}", 100 * share, reading_.name(),
                               cause),
                   "sweep again on a quiet machine, or train all the same with --allow-disturbed");
        std::erase_if(rows_, [&disturbed](const Row& row) { return disturbed.contains(row.problem); });
        reading_.notice(fmt::format("left out {} of {} problems, which were measured while {}", disturbed.count(),
                                    disturbed.problems(), cause));
    }

    /// SHA-256 of nothing but what training uses: other reasons, counters and conditions are free to differ.
    std::string digest() const {
        HashedItems hash;
        for (const Row& row : rows_) {
            const CaseRecord& r = *row.record;
            hash.text(row.problem).text(r.variant).text(r.configuration).text(to_string(r.status));
            hash.text(r.provenance.source_id).text(r.provenance.session);
            if (r.status != Status::ok) continue;
            hash.number(r.time_ns)
                .number(r.time_lo_ns)
                .number(r.time_hi_ns)
                .number(static_cast<double>(r.samples_ns.size()));
            for (const double sample : r.samples_ns) hash.number(sample);
        }
        return sha256(hash.bytes);
    }

    static constexpr const char* kMerge = "rebuild the results with `espalier merge`";

    Reading& reading_;
    const Family& family_;
    const DeviceInfo& device_;
    const EvidenceOptions& options_;
    std::vector<Row>& rows_;
    Evidence& evidence_;
    std::set<std::string> unknown_{};
};

}  // namespace

void Reading::notice(std::string text) {
    if (options.strict) refuse(name() + ": " + text, "drop --strict to train on the rest");
    evidence.notices.push_back(std::move(text));
}

void refuse(const std::string& what, const std::string& fix) { throw BadEvidence(what + "; " + fix); }

void read_rows(std::span<const CaseRecord> records, Reading& reading) { RowReader(reading).read(records); }

}  // namespace espalier::bench::learn
