#pragma once

// The common part of both twins of device/swizzled_products.hpp: rows in shared memory read without bank conflicts, and
// their products by the warps' instructions of device/half_tiles.hpp.

#include <cstddef>
#include <cstdint>

#include "device/half_tiles.hpp"
#include "device/kernel.hpp"

namespace espalier::device {

/// Of 16 x 128 products: with g = lane / 4 and t = lane % 4, [n][0] and [n][1] are row g, columns 8 n + 2 t and the
/// next, [n][2] and [n][3] the same of row g + 8.
using ProductSums = float[16][4];

/// Rows of 128 bytes lie one after another from a multiple of 1,024 on, and so that eight rows' pieces of 16 bytes are
/// in different banks: piece p of row r is where p ^ r % 8 would be. In bytes.
__device__ constexpr int swizzled_place(int row, int piece) { return row * 128 + ((piece ^ (row & 7)) * 16); }

/// A lane's part of 16 halves of its warp's rows, 16 warp to 16 warp + 15 of swizzled ones, from piece 2 step on.
__device__ __forceinline__ void load_rows(std::uint32_t (&a)[4], const std::byte* rows, int step, unsigned warp,
                                          unsigned lane) {
    const int row = static_cast<int>(warp) * 16 + static_cast<int>(lane) % 16;
    load_matrices(a, rows + swizzled_place(row, 2 * step + static_cast<int>(lane) / 16));
}

/// sums += a b for a warp's 16 rows (`multiply_halves` says how a lane holds them) and the 16 halves of 128 swizzled
/// rows that begin at piece 2 step. Products are exact; how sums are rounded is up to the device.
__device__ inline void add_products_by_warps(ProductSums& sums, const std::uint32_t (&a)[4], const std::byte* rows,
                                             int step) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int n = 0; n < 16; n += 2) {
        std::uint32_t b[4];
        load_matrices(b, rows + swizzled_place(n * 8 + lane / 16 * 8 + lane % 8, 2 * step + lane / 8 % 2));
        multiply_halves(sums[n], a, b[0], b[1]);
        multiply_halves(sums[n + 1], a, b[2], b[3]);
    }
}

}  // namespace espalier::device
