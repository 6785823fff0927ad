#include "harness/bench/families/memory_kept.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

constexpr std::size_t kLeastAllocation = 32;  ///< glibc's smallest piece; others' pages are larger

/// Bytes that are allocated and not freed.
std::size_t kept_bytes(DeviceKind kind) {
    if (kind == DeviceKind::cuda) {
        const device::MemoryState state = device::memory_state();
        return state.total - state.free;
    }
    const auto state = mallinfo2();
    return state.uordblks + state.hblkhd;
}

}  // namespace

std::string memory_kept(Bench& bench, std::size_t variant, const Configuration& configuration, DeviceKind kind) {
    constexpr int kRuns = 8, kMostRounds = 8;
    const auto growth = [&] {
        const std::size_t before = kept_bytes(kind);
        for (int i = 0; i < kRuns; ++i) bench.run(variant, configuration);
        if (kind == DeviceKind::cuda) device::synchronize();
        const std::size_t after = kept_bytes(kind);
        return after > before ? after - before : 0;
    };
    if (growth() == 0) return {};
    // Threads' lists of free pieces count as kept, and fill up by and by: once in thousands of cases for three rounds
    // on end. Less than a piece a run is a list's as well.
    std::size_t least = growth();
    for (int round = 1; round < kMostRounds && least > 0; ++round) least = std::min(least, growth());
    if (least < kRuns * kLeastAllocation) return {};
    return fmt::format("keeps about {} bytes at each run: free what it allocates", least / kRuns);
}

}  // namespace espalier::bench
