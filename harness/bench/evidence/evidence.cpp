#include "harness/bench/evidence/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "harness/bench/evidence/noise.hpp"
#include "harness/bench/evidence/rows.hpp"
#include "harness/bench/learn/imputation.hpp"
#include "harness/bench/learn/in_family.hpp"

namespace espalier::bench::learn {
namespace {

class MatrixMaker {
public:
    explicit MatrixMaker(Reading& reading)
        : reading_(reading),
          family_(reading.family),
          device_(reading.device),
          options_(reading.options),
          rows_(reading.rows),
          evidence_(reading.evidence) {}

    void make() {
        choose_candidates();
        choose_problems();
        fill();
    }

private:
    /// In the registry's order: the choices that were measured at least once, and the baseline.
    void choose_candidates() {
        std::set<std::pair<std::size_t, std::size_t>> measured;
        for (const Row& row : rows_)
            if (row.record->status == Status::ok && !reading_.excluded[row.candidate.variant])
                measured.emplace(row.candidate.variant, row.candidate.configuration);
        const std::size_t baseline = family_.baseline(device_.kind);
        if (baseline == Family::npos)
            refuse(reading_.name() + ": the family has no baseline", "give one variant Role::baseline");
        measured.emplace(baseline, 0);
        Matrix& matrix = evidence_.matrix;
        for (const auto& [variant, configuration] : measured) {
            if (variant == baseline && configuration == 0) matrix.baseline = matrix.candidates.size();
            matrix.candidates.push_back({variant, configuration});
        }
    }

    /// The records of one problem, counted.
    struct Coverage {
        std::size_t present = 0;  ///< choices with a record
        std::size_t missing = 0;  ///< choices that could run and have none
        bool any = false;         ///< something was measured
        bool baseline = false;    ///< it was tried

        /// Whether what is there says enough to impute the rest.
        [[nodiscard]] bool suffices() const { return any && baseline && missing <= present; }
    };

    Coverage coverage(std::span<const Row> rows) const {
        const Matrix& matrix = evidence_.matrix;
        Coverage found;
        bool baseline_left_out = false;
        std::vector<bool> recorded(matrix.candidates.size());
        for (const Row& row : rows) {
            const auto candidate = index_of(row.candidate);
            if (!candidate) continue;
            const Status status = row.record->status;
            recorded[*candidate] = true;
            found.any |= status == Status::ok;
            if (row.candidate != matrix.candidates[matrix.baseline]) continue;
            (status == Status::not_measured ? baseline_left_out : found.baseline) = true;
        }
        found.baseline |= baseline_left_out && found.any;
        for (std::size_t c = 0; c < recorded.size(); ++c)
            if (recorded[c] || supports(family_, device_, rows.front().problem, matrix.candidates[c]))
                ++(recorded[c] ? found.present : found.missing);
        return found;
    }

    /// The problems to train on, once missing records are accounted for.
    void choose_problems() {
        Matrix& matrix = evidence_.matrix;
        std::size_t problems = 0, missing_rows = 0, too_few = 0, without_baseline = 0, without_any = 0, filled = 0;
        std::string example;
        for (std::span<const Row> left = rows_; !left.empty(); ++problems) {
            const std::string& problem = left.front().problem;
            const auto last = std::ranges::find_if(left, [&](const Row& r) { return r.problem != problem; });
            const Coverage found = coverage(left.first(static_cast<std::size_t>(last - left.begin())));
            const bool too_little = found.any && found.baseline && !found.suffices();
            if ((too_little || !found.baseline) && example.empty()) example = problem;
            if (too_little) missing_rows += found.missing;
            too_few += too_little;
            without_baseline += !found.baseline;
            without_any += found.baseline && !found.any;
            if (found.suffices()) filled += found.missing;
            if (found.suffices() || (too_little && options_.allow_partial)) matrix.problems.push_back(problem);
            left = left.subspan(static_cast<std::size_t>(last - left.begin()));
        }
        if (const std::size_t incomplete = too_few + without_baseline; incomplete > 0) {
            std::string what = fmt::format("{} cases have no record and {} problems no time of the baseline, e.g. {}",
                                           missing_rows, without_baseline, example);
            if (!options_.allow_partial && 2 * incomplete > problems)
                refuse(reading_.name() + " is incomplete: " + what,
                       "merge the missing shards, resume the sweep, or train on the rest with --allow-partial");
            if (!options_.allow_partial)
                what = fmt::format("{} of {} problems are left out: {}", incomplete, problems, what);
            evidence_.notices.push_back("incomplete: " + what);
        }
        if (filled > 0)
            evidence_.notices.push_back(
                fmt::format("{} cases have no record, as those of variants that came later", filled));
        if (without_any > 0)
            evidence_.notices.push_back(std::to_string(without_any) +
                                        " problems that nothing could compute are left out");
        if (matrix.problems.empty())
            refuse(reading_.name() + " has no problem with a measured baseline", "sweep again");
    }

    std::optional<std::size_t> index_of(const Choice& candidate) const {
        const auto& all = evidence_.matrix.candidates;
        const auto at = std::find(all.begin(), all.end(), candidate);
        return at == all.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - all.begin()));
    }

    void leave_out_absent_columns() {
        std::vector<Column>& columns = evidence_.matrix.columns;
        const auto defaults = family_.feature_values("");
        for (std::size_t f = 0; f < defaults.size(); ++f) {
            const FeatureInfo& feature = family_.features()[f];
            columns[f].absent = feature.optional;
            columns[f].optional = feature.optional && !feature.relaxing;
            columns[f].relaxing = feature.relaxing;
        }
        for (const std::string& problem : evidence_.matrix.problems) {
            const auto values = family_.feature_values(problem);
            for (std::size_t f = 0; f < defaults.size(); ++f)
                if (values[f] != defaults[f]) columns[f].absent = false;
        }
    }

    void fill() {
        Matrix& matrix = evidence_.matrix;
        matrix.columns = columns_of(family_);
        leave_out_absent_columns();
        const std::size_t cells = matrix.rows() * matrix.candidates.size();
        matrix.states.assign(cells, CellState::missing);
        matrix.slowdown.assign(cells, 0);
        matrix.loss.assign(cells, kInfeasible);
        auto row = rows_.begin();
        for (std::size_t p = 0; p < matrix.rows(); ++p) {
            const auto values = asked_values(family_, matrix.columns, matrix.problems[p]);
            if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
                refuse(matrix.problems[p] + " has a feature that is not finite",
                       "mend features() of " + reading_.name());
            matrix.values.insert(matrix.values.end(), values.begin(), values.end());
            while (row->problem != matrix.problems[p]) ++row;
            std::vector<const CaseRecord*> records(matrix.candidates.size());
            for (; row != rows_.end() && row->problem == matrix.problems[p]; ++row)
                if (const auto c = index_of(row->candidate)) records[*c] = row->record;
            fill_problem(p, records);
            for (const CaseRecord* record : records)
                matrix.log_times.push_back(record && record->status == Status::ok ? std::log(record->time_ns) : NAN);
        }
        const std::size_t imputed = matrix.count(CellState::imputed);
        if (imputed == 0) return matrix.log_times.clear();
        impute(matrix, matrix.all());
        reading_.notice(std::to_string(imputed) + " of " + std::to_string(imputed + matrix.count(CellState::measured)) +
                        " times are imputed by forests: there was no time for them, or their source declined them");
    }

    /// Of a candidate that supports the problem today: the source that was measured may have declined it.
    static bool says_nothing(const CaseRecord* record) {
        return !record || record->is_open() || record->status == Status::unsupported;
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
                state = says_nothing(records[c]) ? CellState::imputed : CellState::missing;
        }
        enter_costs(matrix, problem, logs, [&](std::size_t c, double) {
            return records[c] == best || indistinguishable(*records[c], *best, options_.noise_floor);
        });
    }

    Reading& reading_;
    const Family& family_;
    const DeviceInfo& device_;
    const EvidenceOptions& options_;
    const std::vector<Row>& rows_;
    Evidence& evidence_;
};

}  // namespace

Evidence read_evidence(const Family& family, const DeviceInfo& device, std::span<const CaseRecord> records,
                       const EvidenceOptions& options) {
    Reading reading{family, device, options};
    read_rows(records, reading);
    MatrixMaker(reading).make();
    return std::move(reading.evidence);
}

}  // namespace espalier::bench::learn
