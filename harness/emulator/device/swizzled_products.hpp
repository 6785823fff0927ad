#pragma once

// Products of halves in registers or shared memory with rows in shared memory, for the host executor: see the twin of
// this header in device/cuda.

#include <cstddef>
#include <cstdint>

#include "kernels/core/half.hpp"
#include "kernels/device/products_by_warps.hpp"

namespace espalier::device {
namespace host {

inline constexpr int kLaneColumns = 4;  ///< of the 128, read by each lane

/// What a lane brings to the products of a warp: its sums, its part of the 16 rows, and columns 4 lane to 4 lane + 3.
struct ProductFragments {
    ProductSums* sums;
    const std::uint32_t (*a)[4];
    std::uint16_t columns[kLaneColumns][16];
};

/// Every lane's sums, in the order of `resolve_multiply`. One meeting of the lanes for 128 columns: what they
/// wait for each other is most of what emulated products take.
inline void resolve_products(Lanes& lanes, unsigned) {
    const auto of = [&](unsigned lane) -> const ProductFragments& {
        return *reinterpret_cast<const ProductFragments*>(static_cast<std::uintptr_t>(lanes[lane].value));
    };
    float rows[16][16];  // by k, so that a column's 16 products are neighbours
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned word = 0; word < 4; ++word)
            for (unsigned i = 0; i < 2; ++i)
                rows[lane % 4 * 2 + i + word / 2 * 8][lane / 4 + word % 2 * 8] =
                    float_of_binary16(static_cast<std::uint16_t>((*of(lane).a)[word] >> (16 * i)));
    for (unsigned column = 0; column < 128; ++column) {
        const auto& halves = of(column / kLaneColumns).columns[column % kLaneColumns];
        const auto sum = [&](unsigned row) -> float& {
            return (*of(row % 8 * 4 + column % 8 / 2).sums)[column / 8][row / 8 * 2 + column % 2];
        };
        float sums[16];
        for (unsigned row = 0; row < 16; ++row) sums[row] = sum(row);
        for (unsigned k = 0; k < 16; ++k) {
            const float factor = float_of_binary16(halves[k]);
            for (unsigned row = 0; row < 16; ++row) sums[row] += rows[k][row] * factor;
        }
        for (unsigned row = 0; row < 16; ++row) sum(row) = sums[row];
    }
}

inline constexpr WarpOperation kMultiplyRows{"mma.m16n128k16", resolve_products};

}  // namespace host

inline void begin_products() {}
inline void add_products(ProductSums& sums, const std::uint32_t (&a)[4], const std::byte* rows, int step,
                         host::Site site = host::Site::current()) {
    host::ProductFragments fragments{&sums, &a, {}};
    for (int column = 0; column < host::kLaneColumns; ++column)
        for (int piece = 0; piece < 2; ++piece) {
            const int row = static_cast<int>(threadIdx.x) % 32 * host::kLaneColumns + column;
            const auto* const from =
                reinterpret_cast<const std::uint16_t*>(rows + swizzled_place(row, 2 * step + piece));
            for (int k = 0; k < 8; ++k) fragments.columns[column][piece * 8 + k] = from[k];
        }
    host::warp_collective(host::kMultiplyRows, 0xffffffffU, reinterpret_cast<std::uintptr_t>(&fragments), 0, site);
}
inline void add_products_of_rows(ProductSums& sums, const std::byte* own, unsigned warp, const std::byte* rows,
                                 int step, host::Site site = host::Site::current()) {
    std::uint32_t a[4];
    load_rows(a, own, step, warp, threadIdx.x % 32);
    add_products(sums, a, rows, step, site);
}
inline void go_on_with_products() {}
inline void await_products(ProductSums&) {}
inline void end_products(ProductSums&) {}

}  // namespace espalier::device
