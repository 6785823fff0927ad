#pragma once

#include "harness/bench/profile/ceilings.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// Measures this processor in about two seconds, with as many threads as `device` says: streaming copies and reads
/// beyond the last-level cache, reads from the first-level cache, and chains of multiply-adds.
device::Ceilings measure_cpu_ceilings(const DeviceInfo& device);

}  // namespace espalier::bench
