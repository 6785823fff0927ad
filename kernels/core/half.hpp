#pragma once

#include <bit>
#include <cstdint>

/// The 16-bit formats by their patterns, on any processor. Every number of both is a float, so that the way there is
/// exact; the way back is, of a float that came that way. NaNs come out as NaNs.
namespace espalier {

/// Of IEEE 754's binary16. A multiplication gives the exponent its new bias and denormals their leading one.
constexpr float float_of_binary16(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000U) << 16, magnitude = (bits & 0x7FFFU) << 13;
    constexpr std::uint32_t kInfinity = 0x7C00U << 13;
    if (magnitude > kInfinity) return std::bit_cast<float>(sign | 0x7FC00000U | magnitude);  // never a signaling one
    if (magnitude == kInfinity) return std::bit_cast<float>(sign | 0x7F800000U);
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F));
}

constexpr std::uint16_t binary16_of_exact(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);
    if (magnitude == 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
    const auto rebiased = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p-112F);
    return static_cast<std::uint16_t>(sign | rebiased >> 13);
}

constexpr float float_of_bfloat16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// A NaN whose upper half would be infinity's becomes the quiet one.
constexpr std::uint16_t bfloat16_of_exact(float value) {
    if (value != value) return 0x7FC0;
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

}  // namespace espalier
