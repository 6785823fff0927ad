#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/bench/families/workload.hpp"
#include "kernels/device/host_array.hpp"

/// Arrays of numbers whose type is told by a value: what plain families (plain.hpp) fill and compare.
namespace espalier::bench {

enum class NumberType : std::uint8_t { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

template <class T>
constexpr NumberType number_type() {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8, "an array holds numbers");
    constexpr std::size_t kPlace = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    if constexpr (std::is_floating_point_v<T>)
        return sizeof(T) == 4 ? NumberType::f32 : NumberType::f64;
    else
        return static_cast<NumberType>(static_cast<std::size_t>(std::is_signed_v<T> ? NumberType::i8 : NumberType::u8) +
                                       kPlace);
}

/// Fills `to` with numbers. Uniform: -1..1, or all values of a whole number. Constant: 0.1, or 1. Ascending: 0, 1, ..
/// 15, 0, ... so that sums are exact. Descending: as uniform. Special: the least and the largest whole numbers;
/// denormals and signed zeros among ordinary values.
void fill_numbers(NumberType type, std::span<std::byte> to, std::uint64_t seed, Pattern pattern);

/// Puts an infinity or a NaN into an array of floating-point numbers, as seed and size have it.
void plant_special(NumberType type, std::span<std::byte> values, std::uint64_t seed);

/// The numbers as doubles, in which whole numbers beyond 2^53 are rounded.
std::vector<double> numbers_in(NumberType type, std::span<const std::byte> bytes);

/// The oracle's numbers for one output, and what errors of each are measured by: their magnitudes where `scales` is
/// empty.
struct ExpectedArray {
    std::vector<double> values, scales;
};

/// The first number that is not within the tolerance, in words: "out[3] is 2, expected 1". NaN is right where NaN is
/// expected, an infinity where it is expected. `name`: of the array; `actual`: as many numbers as are expected.
Mismatch first_wrong(std::string_view name, NumberType type, std::span<const std::byte> actual,
                     const ExpectedArray& expected, const Tolerance& tolerance);

}  // namespace espalier::bench
