#pragma once

// Dot products of unsigned bytes with signed coefficients, for nvcc (compute capability 6.1 and up). CUDA's __dp4a and
// __dp2a have the same sign on both sides, the instructions behind them do not. The twin of this header in
// harness/emulator/ computes the same on the CPU.

#include <cstdint>

namespace espalier::device {

/// sum + the four bytes of `bytes` times the four signed bytes of `taps`, first in the lowest bits, wrapping around.
__device__ __forceinline__ std::int32_t dot_u8_s8(std::uint32_t bytes, std::uint32_t taps, std::int32_t sum) {
    std::int32_t result;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(taps), "r"(sum));
    return result;
}

/// sum + the lower two bytes of `bytes` times the two signed 16-bit numbers of `taps`.
__device__ __forceinline__ std::int32_t dot_low_u8_s16(std::uint32_t bytes, std::uint32_t taps, std::int32_t sum) {
    std::int32_t result;
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(taps), "r"(bytes), "r"(sum));
    return result;
}

/// The dot product of the upper two bytes.
__device__ __forceinline__ std::int32_t dot_high_u8_s16(std::uint32_t bytes, std::uint32_t taps, std::int32_t sum) {
    std::int32_t result;
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(taps), "r"(bytes), "r"(sum));
    return result;
}

}  // namespace espalier::device
