#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::bench {

/// The i-th number of the stream `seed`: splitmix64's mixing of a counter, so that any thread can compute
/// any part of the data and the data does not depend on how many threads there were.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = seed * 0xD1342543DE82EF95ULL + (i + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/// values[i] = value(i) for all i, on all threads. A GPU's problems have gigabytes of input, which one
/// thread would take longer to make than the GPU to work through.
template <class Values, class Value>
void generate(Values& values, const Value& value) {
    const auto count = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(static) if (count > 100'000)
    for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value(static_cast<std::size_t>(i));
}

}  // namespace espalier::bench
