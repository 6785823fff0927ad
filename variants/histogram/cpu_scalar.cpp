// The plain loop: one table, one increment per byte. Source H. The baseline of the CPU.
// A run of equal bytes is slow: each increment waits for the store of the one before.

#include <algorithm>

#include "kernels/problems/histogram.hpp"

namespace espalier::histogram {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    std::fill_n(buffers.counts, kBins, std::uint64_t{0});
    for (std::int64_t i = 0; i < problem.bytes; ++i) ++buffers.counts[buffers.bytes[i]];
}

}  // namespace

Variant<Problem> cpu_scalar() {
    return {.role = Role::baseline,
            .summary = "one table, one increment per byte, one thread",
            .source = "H",
            .tolerance = kExact,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::histogram
