#pragma once

// Matrix instructions on half-precision and bfloat16 numbers, and what feeds them, for nvcc (compute capability 8.0 and
// up). The twin of this header in harness/emulator/ computes the same on the CPU.

#include <cuda_fp16.h>

#include <cstdint>

namespace espalier::device {

/// The nearest half-precision number's bits.
__device__ __forceinline__ std::uint16_t half_of(float value) { return __half_as_ushort(__float2half_rn(value)); }

/// The nearest bfloat16 numbers' bits, the first one's below.
__device__ __forceinline__ std::uint32_t bfloats_of(float first, float second) {
    std::uint32_t bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
    return bits;
}

/// sum += a b, of a 16 x 16 matrix and a 16 x 8 matrix of halves. With g = lane / 4 and t = lane % 4 a lane holds
///   a[0]: row g, columns 2 t, 2 t + 1       a[2]: the same, columns 8 + 2 t ..
///   a[1]: row g + 8, columns 2 t, 2 t + 1   a[3]: the same, columns 8 + 2 t ..
///   b0: column g, rows 2 t, 2 t + 1         b1: the same, rows 8 + 2 t ..
///   sum[0], sum[1]: row g, columns 2 t, 2 t + 1  sum[2], sum[3]: row g + 8, the same
/// with the first half in the lower bits. Products are exact; how sums are rounded is up to the device.
__device__ __forceinline__ void multiply_halves(float (&sum)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                                std::uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// The same of bfloat16 numbers.
__device__ __forceinline__ void multiply_bfloats(float (&sum)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                                 std::uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Four matrices of 8 x 8 halves from shared memory. Lane 8 m + r passes the address of row r of matrix m, 16 aligned
/// bytes; every lane gets columns 2 t, 2 t + 1 of row g of each.
__device__ __forceinline__ void load_matrices(std::uint32_t (&words)[4], const void* row) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
}

}  // namespace espalier::device
