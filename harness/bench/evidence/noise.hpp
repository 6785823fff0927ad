#pragma once

#include <span>

#include "harness/base/statistics.hpp"
#include "harness/bench/records/case_record.hpp"

namespace espalier::bench::learn {

/// log(a[i] / b[i]), the two timed in the same rounds: its median and 95% interval.
MedianInterval paired_log_ratio(std::span<const double> a, std::span<const double> b);

/// Whether two measured cases of one problem differ by less than measuring again would change: their
/// medians lie within `floor` (0.01 is 1%) of each other, or the interval of their ratio holds 1. Ratios
/// are paired by round within one session, over the rounds that both took part in; cases of different sessions
/// compare by their own intervals.
/// Medians more than 20% apart are different however wide the interval: times that scatter so much would
/// otherwise make the least predictable choice look as good as the best.
bool indistinguishable(const CaseRecord& a, const CaseRecord& b, double floor);

}  // namespace espalier::bench::learn
