#pragma once

// Matrix instructions on single-precision numbers of 11 significant bits (TF32), as a warp executes them together, for
// nvcc (compute capability 8.0 and up). The twin of this header in harness/emulator/ computes the same on the CPU.

#include <cstdint>

namespace espalier::device {

/// sum += a b, of a 16 x 8 matrix and an 8 x 8 matrix of floats whose last 13 bits are 0. With g = lane / 4 and
/// t = lane % 4 a lane holds the bits of
///   a[0]: row g,     column t        a[2]: row g,     column t + 4
///   a[1]: row g + 8, column t        a[3]: row g + 8, column t + 4
///   b0: row t, column g              b1: row t + 4, column g
///   sum[0], sum[1]: row g, columns 2 t, 2 t + 1      sum[2], sum[3]: row g + 8, the same
__device__ __forceinline__ void multiply_tf32(float (&sum)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                              std::uint32_t b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace espalier::device
