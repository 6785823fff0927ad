#pragma once

// The first products of a sum, for nvcc: as device/swizzled_products.hpp, whose functions go on with it. The twin of
// this header in harness/emulator/ computes the same on the CPU.

#include <cstddef>
#include <cstdint>

#include "device/swizzled_products.hpp"

namespace espalier::device {

/// sums = a b, where `add_products` has sums += a b: nobody sets the sums to 0 before. Between `begin_products` and
/// `end_products`.
__device__ __forceinline__ void first_products(ProductSums& sums, const std::uint32_t (&a)[4], const std::byte* rows,
                                               int step) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(rows)) + static_cast<unsigned>(step) * 32;
    // As for `add_products`: groups of eight rows are 1,024 bytes apart; pieces swizzled within 128 bytes.
    constexpr std::uint64_t kSwizzled =
        std::uint64_t{1} << 62 | std::uint64_t{1024 / 16} << 32 | std::uint64_t{1} << 16;
    const std::uint64_t of_rows = kSwizzled | (address & 0x3FFFF) >> 4;
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, "
        "%56, %57, %58, %59, %60, %61, %62, %63}, "
        "{%64, %65, %66, %67}, %68, 0, 1, 1, 0;"
        : "=f"(sums[0][0]), "=f"(sums[0][1]), "=f"(sums[0][2]), "=f"(sums[0][3]), "=f"(sums[1][0]), "=f"(sums[1][1]),
          "=f"(sums[1][2]), "=f"(sums[1][3]), "=f"(sums[2][0]), "=f"(sums[2][1]), "=f"(sums[2][2]), "=f"(sums[2][3]),
          "=f"(sums[3][0]), "=f"(sums[3][1]), "=f"(sums[3][2]), "=f"(sums[3][3]), "=f"(sums[4][0]), "=f"(sums[4][1]),
          "=f"(sums[4][2]), "=f"(sums[4][3]), "=f"(sums[5][0]), "=f"(sums[5][1]), "=f"(sums[5][2]), "=f"(sums[5][3]),
          "=f"(sums[6][0]), "=f"(sums[6][1]), "=f"(sums[6][2]), "=f"(sums[6][3]), "=f"(sums[7][0]), "=f"(sums[7][1]),
          "=f"(sums[7][2]), "=f"(sums[7][3]), "=f"(sums[8][0]), "=f"(sums[8][1]), "=f"(sums[8][2]), "=f"(sums[8][3]),
          "=f"(sums[9][0]), "=f"(sums[9][1]), "=f"(sums[9][2]), "=f"(sums[9][3]), "=f"(sums[10][0]), "=f"(sums[10][1]),
          "=f"(sums[10][2]), "=f"(sums[10][3]), "=f"(sums[11][0]), "=f"(sums[11][1]), "=f"(sums[11][2]),
          "=f"(sums[11][3]), "=f"(sums[12][0]), "=f"(sums[12][1]), "=f"(sums[12][2]), "=f"(sums[12][3]),
          "=f"(sums[13][0]), "=f"(sums[13][1]), "=f"(sums[13][2]), "=f"(sums[13][3]), "=f"(sums[14][0]),
          "=f"(sums[14][1]), "=f"(sums[14][2]), "=f"(sums[14][3]), "=f"(sums[15][0]), "=f"(sums[15][1]),
          "=f"(sums[15][2]), "=f"(sums[15][3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(of_rows));
#else
#pragma unroll
    for (auto& four : sums)
#pragma unroll
        for (float& sum : four) sum = 0;
    add_products(sums, a, rows, step);
#endif
}

}  // namespace espalier::device
