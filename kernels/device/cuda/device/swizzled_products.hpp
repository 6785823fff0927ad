#pragma once

// Products of halves in registers or shared memory with rows in shared memory, for nvcc: by warpgroups where the code
// is for compute capability 9.0 alone (sm_90a), else by warps (8.0 and up). The twin of this header in
// harness/emulator/ computes the same on the CPU.

#include <cstddef>
#include <cstdint>

#include "kernels/device/products_by_warps.hpp"

namespace espalier::device {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// A lane's 64 sums, in an instruction's text and as its operands.
#define ESPALIER_SUMS                          \
    "{%0, %1, %2, %3, %4, %5, %6, %7, "        \
    "%8, %9, %10, %11, %12, %13, %14, %15, "   \
    "%16, %17, %18, %19, %20, %21, %22, %23, " \
    "%24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, " \
    "%40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, " \
    "%56, %57, %58, %59, %60, %61, %62, %63}"
#define ESPALIER_FOUR_SUMS(how, four) how(four[0]), how(four[1]), how(four[2]), how(four[3])
#define ESPALIER_SUM_OPERANDS(how, sums)                                                                         \
    ESPALIER_FOUR_SUMS(how, sums[0]), ESPALIER_FOUR_SUMS(how, sums[1]), ESPALIER_FOUR_SUMS(how, sums[2]),        \
        ESPALIER_FOUR_SUMS(how, sums[3]), ESPALIER_FOUR_SUMS(how, sums[4]), ESPALIER_FOUR_SUMS(how, sums[5]),    \
        ESPALIER_FOUR_SUMS(how, sums[6]), ESPALIER_FOUR_SUMS(how, sums[7]), ESPALIER_FOUR_SUMS(how, sums[8]),    \
        ESPALIER_FOUR_SUMS(how, sums[9]), ESPALIER_FOUR_SUMS(how, sums[10]), ESPALIER_FOUR_SUMS(how, sums[11]),  \
        ESPALIER_FOUR_SUMS(how, sums[12]), ESPALIER_FOUR_SUMS(how, sums[13]), ESPALIER_FOUR_SUMS(how, sums[14]), \
        ESPALIER_FOUR_SUMS(how, sums[15])

/// How an instruction finds 16 halves of swizzled rows, from piece 2 step on.
__device__ __forceinline__ std::uint64_t descriptor_of(const std::byte* rows, int step) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(rows)) + static_cast<unsigned>(step) * 32;
    // Groups of eight rows are 1,024 bytes apart; pieces swizzled within 128 bytes.
    constexpr std::uint64_t kSwizzled =
        std::uint64_t{1} << 62 | std::uint64_t{1024 / 16} << 32 | std::uint64_t{1} << 16;
    return kSwizzled | (address & 0x3FFFF) >> 4;
}

/// Before the first of some products: nobody else touches the sums until `end_products` or `await_products`. By all
/// warps of a warpgroup, as the others.
__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }

/// As `add_products_by_warps`.
__device__ __forceinline__ void add_products(ProductSums& sums, const std::uint32_t (&a)[4], const std::byte* rows,
                                             int step) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " ESPALIER_SUMS
                 ", {%64, %65, %66, %67}, %68, 1, 1, 1, 0;"
                 : ESPALIER_SUM_OPERANDS("+f", sums)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor_of(rows, step)));
}

/// The same, where rows 16 warp to 16 warp + 15 of `own` are the warp's; nobody writes them before the sums are there.
__device__ __forceinline__ void add_products_of_rows(ProductSums& sums, const std::byte* own, unsigned warp,
                                                     const std::byte* rows, int step) {
    constexpr int kGroupBytes = 64 * 128;
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " ESPALIER_SUMS ", %64, %65, 1, 1, 1, 0, 0;"
                 : ESPALIER_SUM_OPERANDS("+f", sums)
                 : "l"(descriptor_of(own + warp / 4 * kGroupBytes, step)), "l"(descriptor_of(rows, step)));
}

/// What was added goes on beside what follows; what was added before the last such call is there, and nobody reads its
/// rows any more.
__device__ __forceinline__ void go_on_with_products() {
    asm volatile(
        "wgmma.commit_group.sync.aligned;\n"
        "wgmma.wait_group.sync.aligned 1;"
        :
        :
        : "memory");
}

/// All that goes on ends: the sums are there.
__device__ __forceinline__ void await_products(ProductSums& sums) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
#pragma unroll
    for (auto& four : sums)
#pragma unroll
        for (float& sum : four) asm volatile("" : "+f"(sum) : : "memory");
}

/// The sums of what was added are there.
__device__ __forceinline__ void end_products(ProductSums& sums) {
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
    await_products(sums);
}

#else

__device__ __forceinline__ void begin_products() {}
__device__ __forceinline__ void add_products(ProductSums& sums, const std::uint32_t (&a)[4], const std::byte* rows,
                                             int step) {
    add_products_by_warps(sums, a, rows, step);
}
__device__ __forceinline__ void add_products_of_rows(ProductSums& sums, const std::byte* own, unsigned warp,
                                                     const std::byte* rows, int step) {
    std::uint32_t a[4];
    load_rows(a, own, step, warp, threadIdx.x % 32);
    add_products_by_warps(sums, a, rows, step);
}
__device__ __forceinline__ void go_on_with_products() {}
__device__ __forceinline__ void await_products(ProductSums&) {}
__device__ __forceinline__ void end_products(ProductSums&) {}

#endif

}  // namespace espalier::device
