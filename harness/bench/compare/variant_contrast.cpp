#include "harness/bench/compare/variant_contrast.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace espalier::bench {
namespace {

constexpr double kLeastVariance = 1e-12;  // what is measured without any noise weighs no more than this

using Observations = std::vector<Observation>;

/// A variant on one problem, its configurations taken together.
struct OnProblem {
    Observations values;
    Contrast contrast;
    double variance = 0;  // of one session
};

/// The value on both sides of which half of the weight lies; takes pairs of a value and its weight.
double weighted_median(std::vector<std::pair<double, double>> values) {
    std::ranges::sort(values);
    double half = 0, below = 0;
    for (const auto& [value, weight] : values) half += weight / 2;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        below += values[i].second;
        // Weights that are equal but for rounding make the mean of the two in the middle.
        if (std::abs(below - half) < 1e-9 * half) return (values[i].first + values[i + 1].first) / 2;
        if (below > half) return values[i].first;
    }
    return values.back().first;
}

/// About the middle between the sides, so that cases of any duration can be taken together.
Observations centred(Observations observations, const Sides& sides) {
    double sums[2] = {}, counts[2] = {};
    for (const Observation& one : observations)
        sums[one.session >= sides.before] += one.value, ++counts[one.session >= sides.before];
    const double middle = (sums[0] / counts[0] + sums[1] / counts[1]) / 2;
    for (Observation& one : observations) one.value -= middle;
    return observations;
}

/// Session by session the median over the configurations.
OnProblem on_problem(const std::vector<Observations>& configurations, const Sides& sides) {
    OnProblem result;
    for (std::size_t session = 0; session < sides.sessions(); ++session) {
        std::vector<double> values, variances;
        for (const Observations& observations : configurations)
            for (const Observation& one : observations)
                if (one.session == session) values.push_back(one.value), variances.push_back(one.variance);
        if (!values.empty()) result.values.push_back({session, median_of(values), median_of(variances)});
    }
    result.contrast = contrast(result.values, sides.before);
    return result;
}

/// How much more the problems scatter about the variant's difference than their variances say: as a ratio of variances.
double scatter_ratio(const std::vector<OnProblem>& problems, double difference) {
    std::vector<double> deviations;
    for (const OnProblem& one : problems)
        deviations.push_back(std::abs(one.contrast.difference - difference) /
                             std::sqrt(one.variance * one.contrast.sessions));
    return std::pow(kOfDeviations * median_of(std::move(deviations)), 2);
}

Contrast over_problems(const std::vector<OnProblem>& problems, double prior_degrees, const Sides& sides) {
    Observations sessions;
    double precision = 0;
    for (const OnProblem& one : problems) precision += 1 / one.variance;
    for (std::size_t session = 0; session < sides.sessions(); ++session) {
        std::vector<std::pair<double, double>> values;
        for (const OnProblem& one : problems)
            for (const Observation& value : one.values)
                if (value.session == session) values.emplace_back(value.value, 1 / std::sqrt(one.variance));
        if (!values.empty()) sessions.push_back({session, weighted_median(std::move(values)), 0});
    }
    Contrast result = contrast(sessions, sides.before);
    const auto more = static_cast<double>(problems.size() - 1);
    const double ratio =
        (result.prior_degrees + more * scatter_ratio(problems, result.difference)) / (result.prior_degrees + more);
    result.known = std::numbers::pi / 2 * ratio / precision;  // the variance of a weighted median
    result.prior_degrees = prior_degrees + more;
    return result;
}

}  // namespace

std::vector<VariantContrast> variant_contrasts(const std::vector<TimedCase>& cases, const RelativeTimes& times,
                                               const CaseNoise& noise, const Sides& sides) {
    std::map<std::string, std::map<std::string, std::vector<std::size_t>>> variants;
    for (std::size_t i = 0; i < cases.size(); ++i) variants[cases[i].variant][cases[i].problem].push_back(i);
    std::vector<VariantContrast> result;
    for (const auto& [name, members] : variants) {
        VariantContrast variant{.variant = name, .problems = members.size()};
        std::vector<OnProblem> problems;
        std::size_t alone = 0;
        for (const auto& [problem, indices] : members) {
            std::vector<Observations> configurations;
            for (const std::size_t i : indices)
                // Of two variants in all nobody can tell which changed: then times count as they are.
                configurations.push_back(centred(times.tells_variants() ? times.cases[i] : cases[i].times, sides));
            const std::optional<double>& common = times.alone[indices.front()] ? noise.alone : noise.together;
            problems.push_back(on_problem(configurations, sides));
            problems.back().variance = std::max(common.value_or(0) + problems.back().contrast.known, kLeastVariance);
            variant.noise_known &= common.has_value();
            variant.cases += indices.size();
            alone += times.alone[indices.front()];
        }
        variant.alone = 2 * alone > problems.size();
        variant.contrast = over_problems(problems, noise.prior_degrees, sides);
        if (variant.alone) variant.contrast.known += times.spread;  // its problems may have shifted together
        result.push_back(std::move(variant));
    }
    return result;
}

}  // namespace espalier::bench
