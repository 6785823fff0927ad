#pragma once

#include <string>

#include "harness/bench/sweep/plan/plan.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// Driver version of a GPU, the kernel's release for a CPU.
std::string driver_version(const DeviceInfo& device);
/// CUDA runtime version for a GPU, the compiler's for a CPU.
std::string runtime_version(const DeviceInfo& device);
/// Compiler, build type and version of this program: what must agree for measurements to be pooled.
std::string build_identity();
/// Free memory of the device, which must be the current one, and of the host.
FreeMemory free_memory(const DeviceInfo& device);

/// Sorts by time and is never given twice: UTC and 32 random bits.
std::string new_session();

}  // namespace espalier::bench
