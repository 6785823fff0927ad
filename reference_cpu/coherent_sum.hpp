#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace espalier::reference {

/// s(k) of one source in double precision, k in 0..samples-1. `traces` is receivers x trace_samples,
/// `delays` the source's, one per receiver. `magnitude` receives the sums of absolute values.
std::vector<double> coherent_sum(std::span<const float> traces, std::int64_t trace_samples, const std::int32_t* delays,
                                 std::int64_t receivers, std::int64_t samples, std::vector<double>& magnitude);

}  // namespace espalier::reference
