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

/// A number, or 0 in place of one that is not there: then `from` is not read.
__device__ __forceinline__ void copy_ahead(float* to, const float* from, bool is_there) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    const int bytes = is_there ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(address), "l"(from), "r"(bytes) : "memory");
}

/// Four of them, at addresses of 16 aligned bytes.
__device__ __forceinline__ void copy_four_ahead(float* to, const float* from, bool are_there) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    const int bytes = are_there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(address), "l"(from), "r"(bytes) : "memory");
}

/// The thread's copies since the group before are a group.
__device__ __forceinline__ void end_group_of_copies() { asm volatile("cp.async.commit_group;" : : : "memory"); }

/// Until all groups of the thread but the last `others` are there.
template <int others>
__device__ __forceinline__ void wait_for_copies_but() {
    asm volatile("cp.async.wait_group %0;" : : "n"(others) : "memory");
}

__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

}  // namespace espalier::device
