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
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " ESPALIER_SUMS
                 ", {%64, %65, %66, %67}, %68, 0, 1, 1, 0;"
                 : ESPALIER_SUM_OPERANDS("=f", sums)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor_of(rows, step)));
#else
#pragma unroll
    for (auto& four : sums)
#pragma unroll
        for (float& sum : four) sum = 0;
    add_products(sums, a, rows, step);
#endif
}

}  // namespace espalier::device
