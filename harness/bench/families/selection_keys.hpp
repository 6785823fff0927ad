#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference_cpu/smallest_k.hpp"

/// The types of numbers that selections are of, for inputs and checks: each with what a number is in memory, what it
/// stands for, how numbers are made of it, and the values at which an order may go wrong.
namespace espalier::bench::smallest_k {

struct Float32Keys {
    using Stored = float;
    using Limits = std::numeric_limits<float>;
    static constexpr double kPadding = std::numeric_limits<double>::quiet_NaN();
    static constexpr std::array<Stored, 12> kSpecial{
        Limits::quiet_NaN(),  -Limits::quiet_NaN(),  Limits::infinity(), -Limits::infinity(), 0.0F, -0.0F,
        Limits::denorm_min(), -Limits::denorm_min(), Limits::max(),      Limits::lowest(),    1.0F, -1.0F};

    static double number(Stored value) { return value; }
    static Stored of(double number) { return static_cast<float>(number); }
    static Stored uniform(std::uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-24F; }
    static Stored distance(float value) { return value; }
};

/// A 16-bit format, by the oracle's conversions. `one`, `infinity`: their patterns.
template <double (*number_of)(std::uint16_t), std::uint16_t (*pattern_of)(double), std::uint16_t one,
          std::uint16_t infinity>
struct ShortFloatKeys {
    using Stored = std::uint16_t;
    static constexpr double kPadding = std::numeric_limits<double>::quiet_NaN();
    static constexpr Stored kSign = 0x8000, kLargest = infinity - 1, kNan = infinity | 1;  // signaling
    static constexpr std::array<Stored, 12> kSpecial{
        kNan,     kSign | infinity | 0x7F, infinity, kSign | infinity, 0, kSign, 1, kSign | 1,
        kLargest, kSign | kLargest,        one,      kSign | one};

    static double number(Stored bits) {
        static const std::vector<double> kNumbers = [] {
            std::vector<double> numbers(1 << 16);
            for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number_of(static_cast<std::uint16_t>(i));
            return numbers;
        }();
        return kNumbers[bits];
    }
    static Stored of(double number) { return pattern_of(number); }
    static Stored uniform(std::uint64_t bits) { return of(Float32Keys::uniform(bits)); }
    static Stored distance(float value) { return of(value); }
};
using Float16Keys = ShortFloatKeys<reference::number_of_binary16, reference::binary16_of, 0x3C00, 0x7C00>;
using Bfloat16Keys = ShortFloatKeys<reference::number_of_bfloat16, reference::bfloat16_of, 0x3F80, 0x7F80>;

/// Uniform numbers fill the whole range, distances up to 4 the positive one.
struct Int32Keys {
    using Stored = std::int32_t;
    using Limits = std::numeric_limits<std::int32_t>;
    static constexpr double kPadding = Limits::max();
    static constexpr std::array<Stored, 12> kSpecial{
        Limits::max(), Limits::min(), Limits::max() - 1, Limits::min() + 1, 0,          -1, 1,
        Limits::max(), Limits::min(), 0x7F800000,        -0x7F800000,       1 << 24 | 1};

    static double number(Stored value) { return value; }
    static Stored of(double number) { return static_cast<Stored>(number); }
    static Stored uniform(std::uint64_t bits) { return static_cast<Stored>(bits >> 32); }
    static Stored distance(float value) { return static_cast<Stored>(value * 0x1p29F); }
};

}  // namespace espalier::bench::smallest_k
