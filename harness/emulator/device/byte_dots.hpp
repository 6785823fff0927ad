#pragma once

// Dot products of unsigned bytes with signed coefficients, for the host executor: see the twin of this header in
// device/cuda.

#include <cstdint>

#include "device/kernel.hpp"

namespace espalier::device {

inline std::int32_t dot_u8_s8(std::uint32_t bytes, std::uint32_t taps, std::int32_t sum) {
    return static_cast<std::int32_t>(
        host::dot_4_bytes<std::uint8_t, std::int8_t>(bytes, taps, static_cast<std::uint32_t>(sum)));
}

inline std::int32_t dot_low_u8_s16(std::uint32_t bytes, std::uint32_t taps, std::int32_t sum) {
    auto result = static_cast<std::uint32_t>(sum);
    for (int i = 0; i < 2; ++i) {
        const std::int32_t tap = static_cast<std::int16_t>(static_cast<std::uint16_t>(taps >> (16 * i)));
        result += static_cast<std::uint32_t>(host::byte_of<std::uint8_t>(bytes, i) * tap);
    }
    return static_cast<std::int32_t>(result);
}
inline std::int32_t dot_high_u8_s16(std::uint32_t bytes, std::uint32_t taps, std::int32_t sum) {
    return dot_low_u8_s16(bytes >> 16, taps, sum);
}

}  // namespace espalier::device
