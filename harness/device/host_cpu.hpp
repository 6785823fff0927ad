#pragma once

#include "harness/core/device_info.hpp"

namespace espalier::device {

/// Describes the processor that this process runs on: instruction sets asked at run time, threads that
/// it may use, caches and memory. Its key is "cpu-<isa>-<threads>t".
DeviceInfo describe_cpu();

}  // namespace espalier::device
