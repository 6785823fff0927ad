#include "harness/learn/noise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace espalier::bench::learn {
namespace {

/// How many order statistics to drop at either end so that the rest covers the median with at least
/// 95%: the largest r with P(Binomial(n, 1/2) < r) <= 2.5%.
std::size_t dropped_at_each_end(std::size_t n) {
    constexpr int kExactUpTo = 10'000;  // beyond it 2^-n leaves the range of long double
    if (n > kExactUpTo)
        return static_cast<std::size_t>(0.5 * static_cast<double>(n) - std::sqrt(static_cast<double>(n)));
    long double probability = std::ldexp(1.0L, -static_cast<int>(n));
    long double below = 0;
    for (std::size_t r = 0; r <= n; ++r) {
        below += probability;
        if (below > 0.025L) return r;
        probability *= static_cast<long double>(n - r) / static_cast<long double>(r + 1);
    }
    return n;
}

std::vector<double> sorted_log_ratios(std::span<const double> a, std::span<const double> b) {
    std::vector<double> ratios(std::min(a.size(), b.size()));
    for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = std::log(a[i] / b[i]);
    std::sort(ratios.begin(), ratios.end());
    return ratios;
}

double median_log_ratio(std::span<const double> a, std::span<const double> b) {
    const auto ratios = sorted_log_ratios(a, b);
    return (ratios[(ratios.size() - 1) / 2] + ratios[ratios.size() / 2]) / 2;
}

}  // namespace

Interval paired_log_ratio(std::span<const double> a, std::span<const double> b) {
    const std::size_t n = std::min(a.size(), b.size());
    if (n == 0) return {-INFINITY, INFINITY};
    const auto ratios = sorted_log_ratios(a, b);
    const std::size_t dropped = dropped_at_each_end(n);
    const std::size_t first = dropped == 0 ? 0 : dropped - 1;
    return {ratios[first], ratios[n - 1 - first]};
}

bool indistinguishable(const CaseRecord& a, const CaseRecord& b, double floor) {
    constexpr double kMostForgiven = 0.2;
    // Sample i of both is from round i. One of them may have left earlier: medians of all samples would then be of
    // different spans of a drifting machine, so what counts is the rounds that both took part in.
    const std::size_t rounds = std::min(a.samples_ns.size(), b.samples_ns.size());
    const bool paired = a.provenance.session == b.provenance.session && rounds > 1;
    const double difference =
        std::abs(paired ? median_log_ratio(a.samples_ns, b.samples_ns) : std::log(a.time_ns / b.time_ns));
    if (difference <= std::log1p(floor)) return true;
    if (difference > std::log1p(kMostForgiven)) return false;
    if (paired) return paired_log_ratio(a.samples_ns, b.samples_ns).contains(0);
    return a.time_lo_ns <= b.time_hi_ns && b.time_lo_ns <= a.time_hi_ns;
}

}  // namespace espalier::bench::learn
