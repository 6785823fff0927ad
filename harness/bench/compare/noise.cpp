#include "harness/bench/compare/noise.hpp"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <tuple>

namespace espalier::bench {
namespace {

constexpr std::size_t kFewest = 5;           // units that a common variance can be told from
constexpr std::size_t kEnoughForTails = 50;  // units that tails can be told from
constexpr double kTail = 0.1;
constexpr double kRounding = 1e-24;  // a variance of less is rounding

double observed_variance(const Contrast& contrast) {
    return contrast.degrees > 0 ? contrast.within / contrast.degrees
                                : contrast.difference * contrast.difference / contrast.sessions;
}

/// Quantiles of what observed variances are in units of the expected ones. Few different ones are asked for often.
class Expected {
public:
    double quantile(const Contrast& contrast, double probability) {
        const auto [found, is_new] = cache_.try_emplace({contrast.degrees, contrast.prior_degrees, probability});
        if (is_new)
            found->second = boost::math::quantile(
                boost::math::fisher_f(std::max(contrast.degrees, 1), contrast.prior_degrees), probability);
        return found->second;
    }

private:
    std::map<std::tuple<int, double, double>, double> cache_;
};

std::vector<Contrast> telling_of(std::span<const Contrast> contrasts) {
    std::vector<Contrast> telling;
    for (const Contrast& one : contrasts)
        if (observed_variance(one) > kRounding) telling.push_back(one);
    return telling;
}

/// Whether more than one of ten repeated variances lies beyond what one of ten should exceed.
bool tails_are_heavier(const std::vector<Contrast>& telling, Expected& expected) {
    const double common = unexplained_variance(telling).value_or(0);
    std::size_t beyond = 0;
    for (const Contrast& one : telling)
        beyond += observed_variance(one) > std::max(common + one.known, kRounding) * expected.quantile(one, 1 - kTail);
    return static_cast<double>(beyond) > 1.5 * kTail * static_cast<double>(telling.size());
}

}  // namespace

Contrast contrast(std::span<const Observation> observations, std::size_t sessions_before) {
    double sums[2] = {}, variances[2] = {}, counts[2] = {};
    for (const Observation& one : observations) {
        const int side = one.session >= sessions_before;
        sums[side] += one.value, variances[side] += one.variance, ++counts[side];
    }
    const double means[2] = {sums[0] / counts[0], sums[1] / counts[1]};
    Contrast result{.difference = means[1] - means[0],
                    .sessions = 1 / counts[0] + 1 / counts[1],
                    .known = 0,
                    .within = 0,
                    .degrees = static_cast<int>(counts[0] + counts[1]) - 2};
    for (const int side : {0, 1}) result.known += variances[side] / (counts[side] * counts[side]) / result.sessions;
    for (const Observation& one : observations)
        result.within += std::pow(one.value - means[one.session >= sessions_before], 2);
    return result;
}

std::optional<double> unexplained_variance(std::span<const Contrast> contrasts) {
    const std::vector<Contrast> telling = telling_of(contrasts);
    if (telling.size() < kFewest) return std::nullopt;
    Expected expected;
    std::vector<double> in_units;  // observed variances as if each were a median
    for (const Contrast& one : telling) in_units.push_back(observed_variance(one) / expected.quantile(one, 0.5));
    const auto exceeds = [&](double variance) {  // whether the median is more than it is expected to be
        std::vector<double> shares;
        for (std::size_t i = 0; i < telling.size(); ++i)
            shares.push_back(in_units[i] / std::max(variance + telling[i].known, kRounding));
        return median_of(std::move(shares)) > 1;
    };
    double low = 0, high = *std::ranges::max_element(in_units);
    if (!exceeds(low)) return 0;
    for (int i = 0; i < 60; ++i) (exceeds((low + high) / 2) ? low : high) = (low + high) / 2;
    return high;
}

void fit_tails(std::span<Contrast> contrasts) {
    std::vector<Contrast> repeated = telling_of(contrasts);
    std::erase_if(repeated, [](const Contrast& one) { return one.degrees == 0; });
    if (repeated.size() < kEnoughForTails) return;
    Expected expected;
    double degrees = repeated.front().prior_degrees;
    for (const double fewer : {2.0, 1.0, 0.5}) {
        if (!tails_are_heavier(repeated, expected)) break;
        degrees = fewer;
        for (Contrast& one : repeated) one.prior_degrees = degrees;
    }
    for (Contrast& one : contrasts) one.prior_degrees = degrees;
}

double Judged::p() const {
    const double beyond = std::abs(difference) - allowance;
    if (beyond <= 0) return 1;
    if (error <= 0) return 0;
    return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(degrees), beyond / error));
}

std::pair<double, double> Judged::interval(double miss) const {
    const double quantile = boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), miss / 2));
    const double half = quantile * error + allowance;
    return {difference - half, difference + half};
}

std::optional<Judged> judge(const Contrast& contrast, std::optional<double> common) {
    const double prior = common ? contrast.prior_degrees : 0;
    const double degrees = prior + contrast.degrees;
    if (degrees < 1) return std::nullopt;
    const double variance = (prior * (common.value_or(0) + contrast.known) + contrast.within) / degrees;
    return Judged{
        .difference = contrast.difference, .error = std::sqrt(variance * contrast.sessions), .degrees = degrees};
}

bool moves_more(const Contrast& contrast, double common) {
    return contrast.degrees > 0 &&
           observed_variance(contrast) > (common + contrast.known) * Expected().quantile(contrast, 0.95);
}

double discovery_level(std::vector<double> p, double share) {
    std::ranges::sort(p);
    const auto count = static_cast<double>(p.size());
    double level = share / std::max(count, 1.0);
    for (std::size_t i = 0; i < p.size(); ++i)
        if (const double own = share * static_cast<double>(i + 1) / count; p[i] <= own) level = own;
    return level;
}

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    if (values.size() % 2) return *middle;
    return (*middle + *std::ranges::max_element(values.begin(), middle)) / 2;
}

}  // namespace espalier::bench
