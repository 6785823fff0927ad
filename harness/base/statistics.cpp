#include "harness/base/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <charconv>
#include <cstddef>
#include <iterator>

namespace espalier::bench {
namespace {

/// Rank from below (1-based) of the interval's lower end: the largest k with P(Binomial(n, 1/2) < k) <= tail.
std::size_t lower_rank(std::size_t n, double tail) {
    const boost::math::binomial_distribution<double> below(static_cast<double>(n), 0.5);
    auto k = static_cast<std::size_t>(boost::math::quantile(below, tail));
    while (k > 0 && boost::math::cdf(below, static_cast<double>(k - 1)) > tail) --k;
    while (boost::math::cdf(below, static_cast<double>(k)) <= tail) ++k;
    return k;
}

}  // namespace

MedianInterval median_interval(std::span<const double> samples, double confidence) {
    if (samples.empty()) return {};
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    const std::size_t n = sorted.size();
    const double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    const std::size_t rank = std::max<std::size_t>(lower_rank(n, (1 - confidence) / 2), 1);
    return {median, sorted[rank - 1], sorted[n - rank]};
}

std::vector<double> ratios(std::span<const double> numerators, std::span<const double> denominators) {
    std::vector<double> result(std::min(numerators.size(), denominators.size()));
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = numerators[i] / denominators[i];
    return result;
}

double to_significant_digits(double value, int digits) {
    char text[32];
    const char* const end = std::to_chars(text, std::end(text), value, std::chars_format::scientific, digits - 1).ptr;
    std::from_chars(text, end, value);
    return value;
}

}  // namespace espalier::bench
