#include "harness/bench/compare/judged_changes.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/bench/compare/variant_contrast.hpp"

namespace espalier::bench {
namespace {

constexpr double kFalseDiscoveries = 0.025;  // of cases, and of variants

/// Where neither repetitions nor other variants say what a session may be wrong by: a measurement that is not marked as
/// disturbed may have run at half of the fastest clock, or beside somebody else's thread on its core
/// (docs/busy-machines.md).
const double kNothingKnown = std::log(2.0);

/// Of so many problems' times the median withstands one that is wrong.
constexpr std::size_t kProblemsThatTell = 3;

CaseNoise case_noise(std::vector<Contrast>& contrasts, const RelativeTimes& times) {
    fit_tails(contrasts);
    std::vector<Contrast> together, alone;
    for (std::size_t i = 0; i < contrasts.size(); ++i) (times.alone[i] ? alone : together).push_back(contrasts[i]);
    CaseNoise noise{.together = unexplained_variance(together),
                    .alone = {},
                    .prior_degrees = contrasts.empty() ? 3 : contrasts.front().prior_degrees};
    if (times.known_from_problems)
        noise.alone = noise.together.value_or(0) + times.spread;
    else if (times.known)
        noise.alone = unexplained_variance(alone);
    return noise;
}

/// How much further each problem shifted than any measurement may that is not marked as disturbed: then it is not the
/// median of its variants that others are to be measured by. Several threads meet a neighbour, one does not.
std::map<std::string, double> implausible_shifts(const RelativeTimes& times) {
    const double machine = times.known_from_problems ? times.machine : 0;
    std::map<std::string, double> excess;
    for (const ProblemShift& one : times.problems)
        excess[one.problem] = std::max(0.0, std::abs(one.difference - machine) - kNothingKnown);
    return excess;
}

/// Measured once on either side, a case may lie wholly within some milliseconds in which others had its core, on one
/// side alone: nothing in the session tells, and the other cases' scatter, which is mostly small, does not either.
double of_single_sessions(const Sides& sides, std::size_t problems) {
    return sides.sessions() == 2 && problems < kProblemsThatTell ? kNothingKnown : 0;
}

Judged judged_or_unknown(const Contrast& contrast, const std::optional<double>& common) {
    if (const auto judged = judge(contrast, common)) return *judged;
    return {.difference = contrast.difference,
            .error = std::sqrt(contrast.known * contrast.sessions),
            .degrees = contrast.prior_degrees,
            .allowance = kNothingKnown};
}

/// The degrees of freedom of a sum of two variances (Welch and Satterthwaite).
double degrees_of_sum(double one, double degrees_of_one, double other, double degrees_of_other) {
    return (one + other) * (one + other) / (one * one / degrees_of_one + other * other / degrees_of_other);
}

/// Variants differ in how much sessions move them: those that use all processors meet every neighbour. Where a
/// variant's own repetitions say that it moves more than what is common explains, they alone count.
Judged judged_variant(VariantContrast variant, std::optional<double> common, std::size_t variants) {
    if (!variant.noise_known) return judged_or_unknown(variant.contrast, std::nullopt);
    Contrast& contrast = variant.contrast;
    if (const double noise = common.value_or(0); noise > 0)
        // A median is worth about half as many values as it is of.
        contrast.prior_degrees = degrees_of_sum(contrast.known, contrast.prior_degrees, noise,
                                                std::max(static_cast<double>(variants) / 2, 1.0));
    return judged_or_unknown(
        contrast, moves_more(contrast, common.value_or(0)) ? std::nullopt : std::optional(common.value_or(0)));
}

std::optional<double> root(const std::optional<double>& variance) {
    return variance ? std::optional(std::sqrt(*variance)) : std::nullopt;
}

std::vector<double> probabilities(const auto& judged, auto of) {
    std::vector<double> all;
    for (const auto& one : judged) all.push_back(std::invoke(of, one).p());
    return all;
}

}  // namespace

JudgedChanges judge_changes(const std::vector<TimedCase>& cases, const std::vector<double>& allowances,
                            const RelativeTimes& times, const Sides& sides) {
    JudgedChanges result;
    std::vector<Contrast> contrasts;
    for (const auto& observations : times.cases) contrasts.push_back(contrast(observations, sides.before));
    const CaseNoise noise = case_noise(contrasts, times);
    std::map<std::string, double> excess = implausible_shifts(times);
    std::map<std::string, std::vector<double>> allowed;  // by variant
    for (std::size_t i = 0; i < contrasts.size(); ++i) {
        result.cases.push_back(judged_or_unknown(contrasts[i], times.alone[i] ? noise.alone : noise.together));
        allowed[cases[i].variant].push_back(allowances[i] + excess[cases[i].problem]);
        result.cases.back().allowance += allowed[cases[i].variant].back();
        result.cases.back().allowance = std::max(result.cases.back().allowance, of_single_sessions(sides, 1));
    }
    const std::vector<VariantContrast> variants = variant_contrasts(cases, times, noise, sides);
    std::vector<Contrast> telling;
    for (const VariantContrast& one : variants)
        if (!one.alone) telling.push_back(one.contrast);
    const std::optional<double> common = unexplained_variance(telling);
    for (const VariantContrast& one : variants) {
        // Where no problem has three variants, the machine is known from the variants alone.
        const bool unknown = one.alone && !times.known_from_problems;
        const Judged judged =
            unknown ? judged_or_unknown(one.contrast, std::nullopt) : judged_variant(one, common, telling.size());
        result.variants.push_back({one.variant, one.cases, one.problems, one.alone, judged});
        double& allowance = result.variants.back().judged.allowance;
        allowance = std::max(allowance + median_of(allowed[one.variant]), of_single_sessions(sides, one.problems));
    }
    result.case_level = discovery_level(probabilities(result.cases, std::identity()), kFalseDiscoveries);
    result.variant_level = discovery_level(probabilities(result.variants, &JudgedVariant::judged), kFalseDiscoveries);
    result.case_noise = root(noise.together ? noise.together : noise.alone);
    result.variant_noise = root(common);
    return result;
}

}  // namespace espalier::bench
