#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>

/// Where to cut a list of keys: for selection on the CPU, which lets a list grow and then cuts it back to its k best.
namespace espalier::smallest_k {

/// A key that at least `wanted` of `count` keys are at most, and, if that is soon found, no
/// more than `enough` of them. `inline` into functions that have a target attribute.
[[gnu::always_inline]] inline std::int32_t bound_of(const std::int32_t* keys, std::size_t count, std::int32_t wanted,
                                                    std::int32_t enough) {
    std::int32_t low = keys[0], high = keys[0];
#pragma omp simd reduction(min : low) reduction(max : high)
    for (std::size_t j = 0; j < count; ++j) {
        low = keys[j] < low ? keys[j] : low;
        high = keys[j] > high ? keys[j] : high;
    }
    while (low < high) {  // the bound is from low to high
        const std::int32_t middle = std::midpoint(low, high);
        std::int32_t found = 0;
#pragma omp simd reduction(+ : found)
        for (std::size_t j = 0; j < count; ++j) found += keys[j] <= middle ? 1 : 0;
        if (found < wanted) {
            low = middle + 1;
            continue;
        }
        high = middle;
        if (found <= enough) break;
    }
    return high;
}

}  // namespace espalier::smallest_k
