#pragma once

// Products of halves in registers with rows in shared memory, for the host executor: see the twin of this header in
// device/cuda.

#include <cstddef>
#include <cstdint>

#include "device/half_tiles.hpp"

namespace espalier::device {

using ProductSums = float[16][4];

constexpr int swizzled_place(int row, int piece) { return row * 128 + ((piece ^ (row & 7)) * 16); }

inline void begin_products() {}
inline void add_products(ProductSums& sums, const std::uint32_t (&a)[4], const std::byte* rows, int step) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (int n = 0; n < 16; n += 2) {
        std::uint32_t b[4];
        load_matrices(b, rows + swizzled_place(n * 8 + lane / 16 * 8 + lane % 8, 2 * step + lane / 8 % 2));
        multiply_halves(sums[n], a, b[0], b[1]);
        multiply_halves(sums[n + 1], a, b[2], b[3]);
    }
}
inline void end_products(ProductSums&) {}

}  // namespace espalier::device
