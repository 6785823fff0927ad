#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harness/bench/profile/cpu_loops.hpp"

namespace espalier::bench {

constexpr int kSteps = 1 << 20;
constexpr int kChains = 12;  // two units with a latency of 4 cycles want 8; some to spare

// What follows needs no instruction set by name: the compiler makes of these vectors what the processor has.

inline void read_portable(const std::byte* from, std::size_t bytes) {
    std::uint64_t sums[8] = {};
    for (std::size_t i = 0; i + 64 <= bytes; i += 64)
        for (std::size_t k = 0; k < 8; ++k) {
            std::uint64_t value;
            std::memcpy(&value, from + i + 8 * k, 8);
            sums[k] ^= value;
        }
    keep(sums);
}

inline double multiply_add_portable() {
    using Floats = float __attribute__((vector_size(16)));
    Floats chains[kChains];
    for (int c = 0; c < kChains; ++c) chains[c] = Floats{} + static_cast<float>(c);
    const Floats factor = Floats{} + 0.999F, one = Floats{} + 1.0F;
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = chain * factor + one;
    keep(chains);
    return 2.0 * 4 * kChains * kSteps;
}

inline double integer_multiply_add_portable() {
    using Integers = std::uint32_t __attribute__((vector_size(16)));
    Integers chains[kChains];
    for (int c = 0; c < kChains; ++c) chains[c] = Integers{} + static_cast<std::uint32_t>(c);
    const Integers factor = Integers{} + 5U, one = Integers{} + 1U;
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = chain * factor + one;
    keep(chains);
    return 2.0 * 4 * kChains * kSteps;
}

}  // namespace espalier::bench
