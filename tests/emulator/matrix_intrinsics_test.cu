// Matrix instructions held to CUDA's documentation of who holds which element: on the host executor, and with nvcc on
// the hardware that it stands in for.

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/first_products.hpp"
#include "device/half_tiles.hpp"
#include "device/kernel.hpp"
#include "device/swizzled_products.hpp"
#include "device/tf32_tiles.hpp"
#include "tests/support/kernel_support.hpp"

namespace espalier::device {
namespace {

/// Small whole numbers: whatever the order of the sums, they are exact.
__host__ __device__ constexpr int element_a(int row, int k) { return (row * 5 + k * 3) % 17 - 8; }
__host__ __device__ constexpr int element_b(int column, int k) { return (column * 7 + k * 5) % 19 - 9; }

__device__ std::uint32_t bits_of(int value) { return __float_as_uint(static_cast<float>(value)); }

__global__ void multiply_16_x_8(float* out) {
    const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4;
    const std::uint32_t a[4] = {bits_of(element_a(g, t)), bits_of(element_a(g + 8, t)), bits_of(element_a(g, t + 4)),
                                bits_of(element_a(g + 8, t + 4))};
    float sums[4] = {1, 1, 1, 1};
    multiply_tf32(sums, a, bits_of(element_b(g, t)), bits_of(element_b(g, t + 4)));
    for (int c = 0; c < 4; ++c) out[(g + c / 2 * 8) * 8 + 2 * t + c % 2] = sums[c];
}

TEST(Tf32Products, ElementsLieAsDocumented) {
    std::vector<float> expected;
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
            int sum = 1;
            for (int k = 0; k < 8; ++k) sum += element_a(row, k) * element_b(column, k);
            expected.push_back(static_cast<float>(sum));
        }
    EXPECT_EQ((results_of<float>(multiply_16_x_8, expected.size(), 1, 32)), expected);
}

__device__ std::uint16_t half_of_int(int value) { return half_of(static_cast<float>(value)); }

struct alignas(1024) SwizzledRows {
    std::byte bytes[128 * 128];

    __device__ void put(int row, int k, int value) {
        reinterpret_cast<std::uint16_t*>(bytes + swizzled_place(row, k / 8))[k % 8] = half_of_int(value);
    }
};

enum class Products { by_warps, by_groups, of_rows, first };

/// Products of a block of a warpgroup, warp w with rows 16 w to 16 w + 15, of step 1 of 4, added to 1 unless they are
/// the first: out[row][column].
template <Products products>
__global__ void multiply_rows(float* out) {
    auto& rows = shared<SwizzledRows>();
    auto& own = shared<SwizzledRows, struct Own>();
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < 128 * 64; i += 128) {
        rows.put(i / 64, i % 64, element_b(i / 64, i % 64));
        if (i < 64 * 64) own.put(i / 64, i % 64, element_a(i / 64, i % 64));
    }
    __syncthreads();
    const int warp = thread / 32, first = warp * 16, g = thread % 32 / 4, t = thread % 4;
    std::uint32_t a[4];
    for (int word = 0; word < 4; ++word) {
        const int row = first + g + word % 2 * 8, k = 16 + word / 2 * 8 + 2 * t;
        a[word] = half_of_int(element_a(row, k)) | std::uint32_t{half_of_int(element_a(row, k + 1))} << 16;
    }
    ProductSums sums;
    for (auto& four : sums)
        for (float& sum : four) sum = 1;
    if constexpr (products == Products::by_warps) {
        add_products_by_warps(sums, a, rows.bytes, 1);
    } else if constexpr (products == Products::first) {
        begin_products();
        first_products(sums, a, rows.bytes, 1);
        end_products(sums);
    } else if constexpr (products == Products::of_rows) {
        begin_products();
        add_products_of_rows(sums, own.bytes, static_cast<unsigned>(warp), rows.bytes, 1);
        go_on_with_products();
        await_products(sums);
    } else {
        begin_products();
        add_products(sums, a, rows.bytes, 1);
        end_products(sums);
    }
    for (int n = 0; n < 16; ++n)
        for (int c = 0; c < 4; ++c) out[(first + g + c / 2 * 8) * 128 + n * 8 + 2 * t + c % 2] = sums[n][c];
}

void check_swizzled_products() {
    std::vector<float> expected;
    for (int row = 0; row < 64; ++row)
        for (int column = 0; column < 128; ++column) {
            int sum = 1;
            for (int k = 16; k < 32; ++k) sum += element_a(row, k) * element_b(column, k);
            expected.push_back(static_cast<float>(sum));
        }
    EXPECT_EQ((results_of<float>(multiply_rows<Products::by_warps>, expected.size(), 1, 128)), expected);
    EXPECT_EQ((results_of<float>(multiply_rows<Products::by_groups>, expected.size(), 1, 128)), expected);
    EXPECT_EQ((results_of<float>(multiply_rows<Products::of_rows>, expected.size(), 1, 128)), expected);
    for (float& sum : expected) sum -= 1;
    EXPECT_EQ((results_of<float>(multiply_rows<Products::first>, expected.size(), 1, 128)), expected);
}
TEST(SwizzledProducts, AreTheSameByWarpsAndByGroups) { check_swizzled_products(); }

}  // namespace
}  // namespace espalier::device
