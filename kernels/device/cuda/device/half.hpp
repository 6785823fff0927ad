#pragma once

// 16-bit numbers by their bits, for nvcc: an instruction each. The twin of this header in harness/emulator/ is
// the same on the CPU.

#include <cuda_fp16.h>

#include <cstdint>

namespace espalier::device {

__device__ __forceinline__ float float_of_half(std::uint16_t bits) { return __half2float(__ushort_as_half(bits)); }

/// Of a number that a half holds.
__device__ __forceinline__ std::uint16_t half_of_exact(float value) { return __half_as_ushort(__float2half_rn(value)); }

__device__ __forceinline__ float float_of_bfloat(std::uint16_t bits) {
    return __uint_as_float(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace espalier::device
