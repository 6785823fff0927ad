#include "harness/bench/evidence/noise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace espalier::bench::learn {

MedianInterval paired_log_ratio(std::span<const double> a, std::span<const double> b) {
    std::vector<double> logs = ratios(a, b);
    for (double& log : logs) log = std::log(log);
    return median_interval(logs);
}

bool indistinguishable(const CaseRecord& a, const CaseRecord& b, double floor) {
    constexpr double kMostForgiven = 0.2;
    // Sample i of both is from round i. One of them may have left earlier: medians of all samples would then be of
    // different spans of a drifting machine, so what counts is the rounds that both took part in.
    const std::size_t rounds = std::min(a.samples_ns.size(), b.samples_ns.size());
    const bool paired = a.provenance.session == b.provenance.session && rounds > 1;
    const MedianInterval ratio = paired ? paired_log_ratio(a.samples_ns, b.samples_ns) : MedianInterval{};
    const double difference = std::abs(paired ? ratio.median : std::log(a.time_ns / b.time_ns));
    if (difference <= std::log1p(floor)) return true;
    if (difference > std::log1p(kMostForgiven)) return false;
    if (paired) return ratio.lo <= 0 && 0 <= ratio.hi;
    return a.time_lo_ns <= b.time_hi_ns && b.time_lo_ns <= a.time_hi_ns;
}

}  // namespace espalier::bench::learn
