#pragma once

#include <cstddef>
#include <string>

namespace espalier::device {

/// The rates that a device's roofline is drawn from, in bytes or operations per second; 0 if unknown.
struct Ceilings {
    double bytes = 0;         ///< from and to main memory, the better of copying and reading
    double cached_bytes = 0;  ///< reads that hit a cache (`DeviceInfo::cached_bytes_per_second`)
    double fp32 = 0;          ///< single precision, a fused multiply-add counted as two
    double integer = 0;       ///< the fastest integer multiply-add, counted as two
};

/// Measures the current GPU in about a second. The host executor, which is never timed, gives zeros.
Ceilings measure_gpu_ceilings();

/// Enqueues a kernel that does nothing on the default stream: what timing subtracts the cost of.
void launch_nothing();

/// Enqueues a kernel that reads `bytes` of device memory through the L2 on the default stream.
void read_through(const void* data, std::size_t bytes);

/// Version of the CUDA runtime that this program is linked with, e.g. "CUDA 13.0"; of the host executor
/// "none".
std::string gpu_runtime_version();

/// Version of the driver as CUDA reports it, e.g. "CUDA driver 13.0"; of the host executor "none".
std::string gpu_driver_version();

}  // namespace espalier::device
