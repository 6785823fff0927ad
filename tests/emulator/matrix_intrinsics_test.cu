// Matrix instructions held to CUDA's documentation of who holds which element: on the host executor, and with nvcc on
// the hardware that it stands in for.

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/first_products.hpp"
#include "device/half_tiles.hpp"
#include "device/kernel.hpp"
#include "device/swizzled_products.hpp"
#include "tests/support/kernel_support.hpp"

namespace espalier::device {
namespace {

/// Small whole numbers: whatever the order of the sums, they are exact.
__host__ __device__ constexpr int element_a(int row, int k) { return (row * 5 + k * 3) % 17 - 8; }
__host__ __device__ constexpr int element_b(int column, int k) { return (column * 7 + k * 5) % 19 - 9; }

/// Two elements of one row or column, from an even one on.
__device__ std::uint32_t bfloats_of_ints(int first, int second) {
    return bfloats_of(static_cast<float>(first), static_cast<float>(second));
}

__global__ void multiply_16_x_8(float* out) {
    const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4;
    std::uint32_t a[4], b[2];
    for (int word = 0; word < 4; ++word) {
        const int row = g + word % 2 * 8, k = word / 2 * 8 + 2 * t;
        a[word] = bfloats_of_ints(element_a(row, k), element_a(row, k + 1));
        if (word < 2) b[word] = bfloats_of_ints(element_b(g, word * 8 + 2 * t), element_b(g, word * 8 + 2 * t + 1));
    }
    float sums[4] = {1, 1, 1, 1};
    multiply_bfloats(sums, a, b[0], b[1]);
    for (int c = 0; c < 4; ++c) out[(g + c / 2 * 8) * 8 + 2 * t + c % 2] = sums[c];
}

TEST(BfloatProducts, ElementsLieAsDocumented) {
    std::vector<float> expected;
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
            int sum = 1;
            for (int k = 0; k < 16; ++k) sum += element_a(row, k) * element_b(column, k);
            expected.push_back(static_cast<float>(sum));
        }
    EXPECT_EQ((results_of<float>(multiply_16_x_8, expected.size(), 1, 32)), expected);
}

/// Numbers and the bits of the nearest bfloat16: exact, half way to an even one down and up, above it, a carry into the
/// exponent, a subnormal, beyond the largest, infinity.
struct Rounded {
    float value;
    std::uint32_t bits;
};
constexpr int kRounded = 8;
__host__ __device__ constexpr Rounded rounded(int i) {
    constexpr Rounded all[kRounded] = {{1, 0x3F80},           {0x1.01p0F, 0x3F80},
                                       {0x1.03p0F, 0x3F82},   {0x1.010002p0F, 0x3F81},
                                       {-0x1.FFp3F, 0xC180},  {0x1.02p-127F, 0x0040},
                                       {0x1.FFp127F, 0x7F80}, {-std::numeric_limits<float>::infinity(), 0xFF80}};
    return all[i];
}

__global__ void round_to_bfloats(std::uint32_t* out) {
    for (int i = 0; i < kRounded; ++i) out[i] = bfloats_of(rounded(i).value, 1);
}

TEST(BfloatProducts, NumbersAreRoundedToTheNearest) {
    std::vector<std::uint32_t> expected;
    for (int i = 0; i < kRounded; ++i) expected.push_back(0x3F80U << 16 | rounded(i).bits);
    EXPECT_EQ((results_of<std::uint32_t>(round_to_bfloats, expected.size(), 1, 1)), expected);
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
