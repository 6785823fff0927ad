#pragma once

// Copies to shared memory that a thread does not wait for, for nvcc (compute capability 8.0 and up). The twin of this
// header in harness/emulator/ copies at once.

#include <cstdint>

namespace espalier::device {

/// 16 aligned bytes to shared memory, there after the thread's next `wait_for_copies`.
__device__ __forceinline__ void copy_ahead(void* to, const void* from) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(address), "l"(from) : "memory");
}

/// A number, or 0 in place of one that is not there: then `from` is not read, but must be an address in device memory.
__device__ __forceinline__ void copy_ahead(float* to, const float* from, bool is_there) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    const int bytes = is_there ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(address), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

}  // namespace espalier::device
