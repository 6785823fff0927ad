#pragma once

#include <optional>
#include <string>

#include "kernels/core/device_info.hpp"

namespace espalier::device {

/// Narrows what this process takes the CPU to be able to: generic, avx2, avx512 or avx512vnni.
inline constexpr const char* kCpuIsaVariable = "ESPALIER_CPU_ISA";

/// Describes the processor that this process runs on: instruction sets asked at run time, threads that it may use
/// (`process_threads`: of the process's CPUs and its quota, whichever thread asks), caches and memory. Its key is
/// "cpu-<microarchitecture>-<isa>-<threads>t", e.g. "cpu-zen4-avx2-2t". ESPALIER_CPU_ISA takes instruction sets away,
/// never adds any; the device's name then says so. A value that names none is ignored here: see `wrong_cpu_isa`.
DeviceInfo describe_cpu();

/// Says what is wrong with the value of ESPALIER_CPU_ISA, with the fix; nothing if it can be used or is not set.
std::optional<std::string> wrong_cpu_isa();

}  // namespace espalier::device
