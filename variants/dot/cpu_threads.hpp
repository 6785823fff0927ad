#pragma once

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

/// Adds up `sum(a, b, elements)` over equal shares of the vectors, one per thread.
template <class Sum>
void sum_shares(const Problem& problem, const Buffers& buffers, int threads, Sum sum) {
    const std::int64_t n = problem.elements;
    double total = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : total) if (threads > 1)
    for (int share = 0; share < threads; ++share) {
        const std::int64_t begin = n / threads * share;
        const std::int64_t end = share + 1 == threads ? n : n / threads * (share + 1);
        total += sum(buffers.a + begin, buffers.b + begin, end - begin);
    }
    *buffers.result = static_cast<float>(total);
}

}  // namespace espalier::dot
