#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace espalier::bench {

/// body(i) for every i below `count`, on all threads. Nothing may be thrown.
template <std::integral Index, class Body>
void in_parallel(Index count, const Body& body) {
#pragma omp parallel for schedule(dynamic)
    for (Index i = 0; i < count; ++i) body(i);
}

/// The first i below `count` with wrong(i), or `count`: outputs have hundreds of millions of elements.
template <class Wrong>
std::size_t first_where(std::size_t count, const Wrong& wrong) {
    std::size_t first = count;
#pragma omp parallel for schedule(static) reduction(min : first) if (count > 100'000)
    for (std::size_t i = 0; i < count; ++i)
        if (i < first && wrong(i)) first = i;
    return first;
}

/// The largest magnitude among them, 0 if there are none.
inline float largest_magnitude(std::span<const float> values) {
    float largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest) if (values.size() > 100'000)
    for (std::size_t i = 0; i < values.size(); ++i) largest = std::max(largest, std::abs(values[i]));
    return largest;
}

}  // namespace espalier::bench
