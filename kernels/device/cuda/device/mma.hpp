#pragma once

// Matrix instructions on bytes, as a warp executes them together, for nvcc (compute capability 8.0 and
// up). The twin of this header in harness/emulator/ computes the same on the CPU.

#include <cstdint>

namespace espalier::device {

/// sum += a b, of a 16 x 32 matrix of unsigned bytes and a 32 x 8 matrix of signed ones. With g = lane / 4 and
/// t = lane % 4 a lane holds
///   a[0]: row g,     columns 4 t .. 4 t + 3      a[2]: the same, columns 16 + 4 t ..
///   a[1]: row g + 8, columns 4 t .. 4 t + 3      a[3]: the same, columns 16 + 4 t ..
///   b[0]: column g, rows 4 t .. 4 t + 3          b[1]: the same, rows 16 + 4 t ..
///   sum[0], sum[1]: row g, columns 2 t, 2 t + 1  sum[2], sum[3]: row g + 8, the same
/// with the first byte in the lowest bits.
__device__ __forceinline__ void multiply_u8_s8(std::int32_t (&sum)[4], const std::uint32_t (&a)[4],
                                               const std::uint32_t (&b)[2]) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// The product of unsigned bytes by unsigned bytes.
__device__ __forceinline__ void multiply_u8_u8(std::int32_t (&sum)[4], const std::uint32_t (&a)[4],
                                               const std::uint32_t (&b)[2]) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Four numbers saturated to 0..255, the first in the lowest byte: two instructions.
__device__ __forceinline__ std::uint32_t pack_saturated(std::int32_t v0, std::int32_t v1, std::int32_t v2,
                                                        std::int32_t v3) {
    std::uint32_t word;
    asm("{\n"
        ".reg .u32 high;\n"
        "cvt.pack.sat.u8.s32.b32 high, %4, %3, 0;\n"
        "cvt.pack.sat.u8.s32.b32 %0, %2, %1, high;\n"
        "}"
        : "=r"(word)
        : "r"(v0), "r"(v1), "r"(v2), "r"(v3));
    return word;
}

}  // namespace espalier::device
