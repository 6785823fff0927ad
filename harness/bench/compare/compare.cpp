#include "harness/bench/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/base/statistics.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/bench/compare/judged_changes.hpp"
#include "harness/bench/compare/pairing.hpp"
#include "harness/bench/records/disturbance.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench {
namespace {

const double kFarthest = std::log(1e9);  // a ratio beyond it says no more, and stays a number in every file

/// The variance of the logarithm of a median, from an interval that holds the true one with 95%. A single sample says
/// nothing of it: what sessions differ by includes it then.
double variance_of_log(const MedianInterval& median) {
    constexpr double kWidth = 2 * 1.96;  // of a 95% interval, in standard deviations
    const double width = std::log(median.hi / median.lo) / kWidth;
    return width * width;
}

/// The statuses of a case's sessions, side by side.
struct Sessions {
    std::size_t ok = 0, failed = 0;
    const CaseRecord* failure = nullptr;  // the last
};

class Pairing {
public:
    Pairing(const Sides& sides, const CompareOptions& options, Comparison& comparison)
        : sides_(sides), options_(options), comparison_(comparison) {}

    /// Files a case under what became of it: broken, mended, measured on one side alone, or timed on both.
    void add(const std::string& key, const CaseSessions& sessions) {
        const Sessions before = side(sessions, true), after = side(sessions, false);
        if (before.ok && !before.failed && after.failed)
            comparison_.broken.push_back({key, std::string(to_string(after.failure->status)), after.failure->reason});
        else if (after.ok && !after.failed && before.failed)
            ++comparison_.mended;
        else if (before.ok && after.ok)
            add_timed(key, sessions);
        else if (before.ok || after.ok)
            ++(before.ok ? comparison_.only_before : comparison_.only_after);
    }

    std::vector<TimedCase> cases;
    std::vector<double> allowances;  // as the cases
    std::vector<Disturbance> disturbances;

private:
    [[nodiscard]] Sessions side(const CaseSessions& sessions, bool before) const {
        Sessions result;
        for (const auto& [session, record] : sessions) {
            if ((session < sides_.before) != before) continue;
            result.ok += record->status == Status::ok;
            if (!is_failure(record->status)) continue;
            ++result.failed;
            result.failure = record;
        }
        return result;
    }

    void add_timed(const std::string& key, const CaseSessions& sessions) {
        const CaseRecord& last = *sessions.rbegin()->second;
        TimedCase timed{key, last.family + "/" + last.variant, last.family + "|" + last.problem, {}};
        double left[2] = {}, counts[2] = {};  // by others, before and after
        for (const auto& [session, record] : sessions) {
            if (record->status != Status::ok) continue;
            if (const auto what = options_.allow_disturbed ? std::nullopt : disturbance_of(*record)) {
                disturbances.push_back(*what);
                continue;
            }
            const MedianInterval median = median_interval(record->samples_ns);
            timed.times.push_back({session, std::log(median.median), variance_of_log(median)});
            const bool after = session >= sides_.before;
            left[after] += log_share_left(*record), ++counts[after];
        }
        if (counts[0] == 0 || counts[1] == 0) {
            ++comparison_.disturbed.cases;
            return;
        }
        cases.push_back(std::move(timed));
        allowances.push_back(std::abs(left[1] / counts[1] - left[0] / counts[0]));
    }

    const Sides& sides_;
    const CompareOptions& options_;
    Comparison& comparison_;
};

/// Counts as a change if the interval leaves out 1 and the ratio is beyond the threshold.
Change verdict(const RatioInterval& relative, double threshold) {
    if (relative.lo > 1 && relative.ratio > 1 + threshold) return Change::slower;
    if (relative.hi < 1 && relative.ratio < 1 / (1 + threshold)) return Change::faster;
    return Change::same;
}

RatioInterval ratio_of(const Judged& judged, double miss) {
    const auto [low, high] = judged.interval(miss);
    const auto ratio = [](double log) { return std::exp(std::clamp(log, -kFarthest, kFarthest)); };
    return {ratio(judged.difference), ratio(low), ratio(high)};
}

/// The ratio that a case would have been called slower at, of half of them.
double least_ratio(const std::vector<RatioInterval>& all, double threshold) {
    std::vector<double> widths;
    for (const RatioInterval& one : all) widths.push_back(std::max(one.ratio / one.lo, 1 + threshold));
    return widths.empty() ? 1 : median_of(std::move(widths));
}

double mean_ns(const TimedCase& timed, const Sides& sides, bool before) {
    double sum = 0, count = 0;
    for (const Observation& time : timed.times)
        if ((time.session < sides.before) == before) sum += time.value, ++count;
    return std::exp(sum / count);
}

void take_over(const JudgedChanges& judged, const Pairing& pairing, const RelativeTimes& times, const Sides& sides,
               double threshold, Comparison& comparison) {
    std::vector<RatioInterval> of_cases, of_variants;
    for (std::size_t i = 0; i < pairing.cases.size(); ++i) {
        const TimedCase& timed = pairing.cases[i];
        const RatioInterval relative = ratio_of(judged.cases[i], judged.case_level);
        comparison.cases.push_back({.key = timed.key,
                                    .before_ns = mean_ns(timed, sides, true),
                                    .after_ns = mean_ns(timed, sides, false),
                                    .relative = relative,
                                    .change = verdict(relative, threshold),
                                    .alone = times.alone[i]});
        comparison.alone += times.alone[i];
        of_cases.push_back(relative);
    }
    for (const JudgedVariant& one : judged.variants) {
        const RatioInterval relative = ratio_of(one.judged, judged.variant_level);
        comparison.variants.push_back(
            {one.variant, one.cases, one.problems, relative, verdict(relative, threshold), one.alone});
        of_variants.push_back(relative);
    }
    comparison.least_of_case = least_ratio(of_cases, threshold);
    comparison.least_of_variant = least_ratio(of_variants, threshold);
    comparison.case_noise = judged.case_noise, comparison.variant_noise = judged.variant_noise;
    for (const ProblemShift& one : times.problems)
        comparison.problems.push_back({one.problem, std::exp(one.difference)});
    if (times.known && times.tells_variants()) comparison.machine = std::exp(times.machine);
    comparison.tells_variants = times.tells_variants();
}

void worst_first(Comparison& comparison) {
    const auto ratio = [](const auto& one) { return one.relative.ratio; };
    std::ranges::stable_sort(comparison.cases, std::greater<>(), ratio);
    std::ranges::stable_sort(comparison.variants, std::greater<>(), ratio);
    std::ranges::stable_sort(comparison.problems, std::greater<>(), &ShiftedProblem::ratio);
}

void mark_changed_sources(const std::map<std::string, CaseSessions>& cases, Comparison& comparison) {
    for (ComparedCase& one : comparison.cases) {
        const CaseSessions& sessions = cases.at(one.key);
        one.source_changed =
            sessions.begin()->second->provenance.source_id != sessions.rbegin()->second->provenance.source_id;
    }
}

}  // namespace

std::size_t Comparison::count(Change change) const {
    return static_cast<std::size_t>(std::ranges::count(cases, change, &ComparedCase::change));
}

std::size_t Comparison::count_variants(Change change) const {
    return static_cast<std::size_t>(std::ranges::count(variants, change, &ComparedVariant::change));
}

bool Comparison::regression() const {
    return !broken.empty() || count(Change::slower) > 0 || count_variants(Change::slower) > 0;
}

Comparison compare(const std::vector<ComparedSweep>& before, const std::vector<ComparedSweep>& after,
                   const CompareOptions& options) {
    std::vector<const ComparedSweep*> sweeps;
    for (const auto* side : {&before, &after})
        for (const ComparedSweep& sweep : *side) sweeps.push_back(&sweep);
    refuse_differences(sweeps, options.pool);
    const Sides sides{before.size(), after.size()};
    if (options.allow_disturbed && sides.sessions() == 2)
        throw BadData(
            "--allow-disturbed needs several sessions a side: how far disturbed ones differ is known from "
            "repetitions alone; sweep again and name A1 A2 -- B1 B2");
    Comparison comparison;
    comparison.sessions_before = sides.before, comparison.sessions_after = sides.after;
    const auto cases = cases_by_key(sweeps, comparison.repeated);
    Pairing pairing(sides, options, comparison);
    for (const auto& [key, sessions] : cases) pairing.add(key, sessions);
    comparison.disturbed.measurements = pairing.disturbances.size();
    if (const auto what = typical(pairing.disturbances)) comparison.disturbed.cause = describe(*what);
    if (pairing.cases.empty()) {
        if (comparison.disturbed.cases && comparison.broken.empty())
            throw BadData(
                fmt::format("nothing is left to compare: {} measured while {}; sweep again on a quiet machine, "
                            "or compare several sessions a side with --allow-disturbed",
                            counted(comparison.disturbed.cases, "case was", "cases were"), comparison.disturbed.cause));
        return comparison;
    }
    const RelativeTimes times = without_shifts(pairing.cases, sides);
    take_over(judge_changes(pairing.cases, pairing.allowances, times, sides), pairing, times, sides, options.threshold,
              comparison);
    mark_changed_sources(cases, comparison);
    worst_first(comparison);
    return comparison;
}

}  // namespace espalier::bench
