#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "espalier/convolution_2d.hpp"
#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"
#include "kernels/core/variant.hpp"

/// 5x5 correlation of an interleaved 8-bit image, saturated to 0..255 (source C).
namespace espalier::convolution_2d {

enum class VariantId : std::uint16_t;

/// The arithmetic that the coefficients allow: a property of the filter's 25 numbers.
enum class Coefficients {
    narrow,   ///< whole numbers whose every possible sum fits 16 bits, e.g. Laplace: -1 and 24
    int16,    ///< whole numbers of 16 bits
    float32,  ///< anything else
};

inline constexpr std::string_view kBorderNames[] = {"zero", "replicate", "mirror"};
inline constexpr std::string_view kCoefficientNames[] = {"narrow", "int16", "float32"};
inline constexpr int kRadius = 2;
inline constexpr int kDiameter = 2 * kRadius + 1;

/// Reads `image`, writes `result`; both height x width x channels bytes, row-major, channels
/// interleaved, rows without padding. They must not overlap. `filter` is on the host.
/// result(y, x, c) = saturate(round(sum over dy, dx in -2..2 of filter[(dy+2)*5 + dx+2] * image(y+dy, x+dx, c)))
/// with ties rounded to even and the border as the problem says. A sum that is not a number gives 0.
struct Buffers {
    const std::uint8_t* image = nullptr;
    std::uint8_t* result = nullptr;
    const Filter5x5* filter = nullptr;
};

struct Problem {
    using Buffers = convolution_2d::Buffers;
    using Id = VariantId;

    std::int64_t width = 4992;
    std::int64_t height = 3744;
    std::int64_t channels = 3;  ///< 1, 3 or 4
    Border border = Border::zero;
    Coefficients coefficients = Coefficients::narrow;

    [[nodiscard]] constexpr std::int64_t values() const { return width * height * channels; }
    [[nodiscard]] constexpr std::int64_t row_values() const { return width * channels; }

    /// The largest power of two up to 16 that divides a row's bytes: how wide an access may be and still be aligned in
    /// every row. None is wider.
    [[nodiscard]] constexpr std::int64_t row_alignment() const {
        std::int64_t alignment = 16;
        while (row_values() % alignment != 0) alignment /= 2;
        return alignment;
    }

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{
            number<&Problem::width>("width", "problem.width"),
            number<&Problem::height>("height", "problem.height"),
            number<&Problem::channels>("channels", "problem.channels"),
            category<&Problem::border>("border", "problem.border", "Border", kBorderNames),
            category<&Problem::coefficients>("coefficients", "problem.coefficients", "Coefficients", kCoefficientNames),
            derived<&Problem::values>("values", "problem.values()"),
            derived<&Problem::row_alignment>("row_alignment", "problem.row_alignment()"),
        };
        return list;
    }

    /// One multiply-add per coefficient and value; the image read once and written once.
    [[nodiscard]] Cost cost() const {
        const double n = static_cast<double>(values());
        const double ops = 2.0 * kDiameter * kDiameter * n;
        const bool floating = coefficients == Coefficients::float32;
        return {.bytes = 2 * n, .fp32_ops = floating ? ops : 0, .int_ops = floating ? 0 : ops};
    }
};

inline constexpr Tolerance kExact{.reason = "whole numbers throughout"};

/// For variants that sum in single precision. The check holds whole coefficients to 0 all the same.
inline constexpr Tolerance kFractionTolerance{
    .absolute = 1, .reason = "fractional coefficients: a single-precision sum near .5 may round the other way"};

/// The coordinate that a border reads instead of `i`, or -1 for a zero. Any size >= 1.
/// (Kernels use 32-bit coordinates: a GPU divides 64 bits in software.)
template <class Integer>
constexpr Integer border_index(Integer i, Integer size, Border border) {
    if (i >= 0 && i < size) return i;
    if (border == Border::zero) return -1;
    if (border == Border::replicate) return i < 0 ? 0 : size - 1;
    if (size == 1) return 0;
    const Integer period = 2 * (size - 1);
    const Integer phase = ((i % period) + period) % period;
    return phase < size ? phase : period - phase;
}

/// A sum as the result's byte: ties to even, then saturated.
constexpr std::uint8_t saturate(std::int32_t sum) {
    return static_cast<std::uint8_t>(sum < 0 ? 0 : (sum > 255 ? 255 : sum));
}
constexpr std::uint8_t saturate(float sum) {
    // Saturated first, so that adding 2^23 drops the fraction as the hardware rounds, to even: no call into
    // the mathematics library, and loops with it vectorise. Not-a-number becomes 0.
    const float clamped = sum > 0.0F ? (sum < 255.0F ? sum : 255.0F) : 0.0F;
    return static_cast<std::uint8_t>((clamped + 8388608.0F) - 8388608.0F);
}

/// The class of a filter: the narrowest arithmetic that computes it exactly.
constexpr Coefficients classify(const Filter5x5& filter) {
    double positive = 0, negative = 0;
    for (float c : filter) {
        if (!(c >= -32768.0F && c <= 32767.0F) || c != static_cast<float>(static_cast<int>(c)))
            return Coefficients::float32;
        (c > 0 ? positive : negative) += 255.0 * static_cast<double>(c);
    }
    return positive <= 32767 && negative >= -32768 ? Coefficients::narrow : Coefficients::int16;
}

/// Calls `work` with the number of channels as a constant.
template <class Work>
void with_channels(std::int64_t channels, Work&& work) {
    if (channels == 1) return work(std::integral_constant<int, 1>{});
    if (channels == 3) return work(std::integral_constant<int, 3>{});
    return work(std::integral_constant<int, 4>{});
}

}  // namespace espalier::convolution_2d
