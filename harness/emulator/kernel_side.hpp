#pragma once

// The intrinsics of device/kernel.hpp ask this of the executor. Only callable from within a kernel.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/emulator/geometry.hpp"
#include "harness/emulator/site.hpp"

// NOLINTBEGIN: CUDA's own names. Set by the executor whenever it switches threads. Visible, so that a kernel that is
// loaded as a library has those of the program.
[[gnu::visibility("default")]] inline constinit thread_local uint3 threadIdx{};
[[gnu::visibility("default")]] inline constinit thread_local uint3 blockIdx{};
[[gnu::visibility("default")]] inline constinit thread_local dim3 blockDim{};
[[gnu::visibility("default")]] inline constinit thread_local dim3 gridDim{};
inline constexpr int warpSize = 32;
// NOLINTEND

namespace espalier::device::host {

/// A static array of shared memory as a kernel asks for it.
struct SharedArray {
    const void* key;   ///< distinguishes it from others
    const char* name;  ///< the instance of shared<>() that it comes from
    std::size_t bytes;
    std::size_t alignment;
};

/// The operands that a lane brings to a warp-wide operation, and its result.
struct Lane {
    std::uint64_t value = 0;
    unsigned argument = 0;
    std::uint64_t result = 0;
};
using Lanes = std::array<Lane, 32>;

/// A warp-wide operation: fills in `result` of every lane in `mask` once all of them have arrived.
/// One function per intrinsic: lanes that meet in different ones are at fault.
struct WarpOperation {
    const char* name;
    void (*resolve)(Lanes& lanes, unsigned mask);
    bool orders_memory = false;
};

/// Waits for all threads of the block; returns for how many of them `predicate` held.
int block_barrier(const char* name, bool predicate, Site site);

/// Waits for the lanes in `mask` and takes part in the operation.
std::uint64_t warp_collective(const WarpOperation& operation, unsigned mask, std::uint64_t value, unsigned argument,
                              Site site);

/// Called for every atomic: lets the other threads run now and then, so that one that spins on memory
/// sees it change.
void atomic_access(const void* address, std::size_t bytes, std::uintptr_t instruction);
void fence();

/// Called for every other access in programs that call `watch_accesses` before main().
void watch_accesses();
enum class AccessKind : std::uint8_t;
void memory_access(const void* address, std::size_t bytes, AccessKind kind, std::uintptr_t instruction);

/// Lets the other threads run.
void yield();

unsigned lane_index();

/// The current poison, in every byte.
std::uint64_t poison_value();

/// The block's array, made on first use.
void* static_shared(const SharedArray& array);
void* dynamic_shared_memory();

/// Ends the launch with an ExecutionFault.
[[noreturn]] void fault(const std::string& what, Site site);
[[noreturn]] void illegal_address(const std::string& what, Site site);

}  // namespace espalier::device::host
