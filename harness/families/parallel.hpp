#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace espalier::bench {

/// body(i) for every i below `count`, on all threads. Nothing may be thrown.
template <class Body>
void in_parallel(std::int64_t count, const Body& body) {
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t i = 0; i < count; ++i) body(i);
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

}  // namespace espalier::bench
