// Matrix instructions held to CUDA's documentation of who holds which element: on the host executor, and with nvcc on
// the hardware that it stands in for.

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "device/kernel.hpp"
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

}  // namespace
}  // namespace espalier::device
