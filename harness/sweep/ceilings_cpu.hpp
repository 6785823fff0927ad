#pragma once

#include "harness/core/device_info.hpp"
#include "harness/device/ceilings.hpp"

namespace espalier {

/// Measures this processor in about two seconds, with as many threads as `device` says: streaming copies and reads
/// beyond the last-level cache, reads from the first-level cache, and chains of multiply-adds.
device::Ceilings measure_cpu_ceilings(const DeviceInfo& device);

}  // namespace espalier
