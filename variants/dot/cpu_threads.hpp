#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/problems/dot.hpp"

namespace espalier::dot {

/// `parallel` 1 shares the elements out to all threads, 0 stays on the calling one: waking threads costs
/// more than short vectors do.
inline Support supports_parallel(const Configuration& configuration, const DeviceInfo& device) {
    if (configuration["parallel"] && device.threads == 1)
        return Support::no("one hardware thread: the same as parallel=0");
    return Support::yes();
}

/// Adds up `sum(a, b, elements)` over shares of the vectors. What the shares are, and in which order their sums are
/// added, depends on the number of elements alone, so that the result has the same bits on any number of threads,
/// however many of them OpenMP delivers. 960 is a multiple of most numbers of threads.
template <class Sum>
void sum_shares(const Problem& problem, const Buffers& buffers, int threads, Sum sum) {
    constexpr std::int64_t kLeastShare = 8192, kMostShares = 960, kLine = 64;
    const std::int64_t n = problem.elements;
    const std::int64_t wanted = std::clamp<std::int64_t>(n / kLeastShare, 1, kMostShares);
    const std::int64_t size = std::max((n + wanted - 1) / wanted + kLine - 1, kLine) / kLine * kLine;
    const std::int64_t shares = (n + size - 1) / size;
    const auto share_sum = [&](std::int64_t share) {
        const std::int64_t begin = share * size;
        return sum(buffers.a + begin, buffers.b + begin, std::min(size, n - begin));
    };
    double total = 0;
    if (threads <= 1 || shares <= 1) {  // without OpenMP, whose team of one costs more than a short vector
        for (std::int64_t share = 0; share < shares; ++share) total += share_sum(share);
    } else {
        double sums[kMostShares];
#pragma omp parallel for num_threads(threads) schedule(static)
        for (std::int64_t share = 0; share < shares; ++share) sums[share] = share_sum(share);
        for (std::int64_t share = 0; share < shares; ++share) total += sums[share];
    }
    *buffers.result = static_cast<float>(total);
}

}  // namespace espalier::dot
