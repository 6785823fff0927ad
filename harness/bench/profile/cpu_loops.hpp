#pragma once

#include <cstddef>

#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// Keeps a result that nobody reads.
template <class T>
void keep(const T& value) {
    asm volatile("" : : "m"(value) : "memory");
}

/// The loops that a CPU's ceilings are measured with.
struct CpuLoops {
    void (*read)(const std::byte*, std::size_t);  ///< reads a multiple of 512 bytes
    double (*multiply_add)();                     ///< returns its operations per thread, a multiply-add counted as two
    double (*dot)();                              ///< the same with integers
};

/// The fastest loops that the processor has the instructions for. One definition per kind of processor: the build takes
/// the one of harness/bench/profile/<architecture>/, or of portable/ where there is none.
CpuLoops cpu_loops(const DeviceInfo& device);

}  // namespace espalier::bench
