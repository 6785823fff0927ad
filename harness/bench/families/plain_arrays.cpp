#include "harness/bench/families/plain_arrays.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "harness/base/random.hpp"
#include "harness/bench/families/parallel.hpp"

namespace espalier::bench {
namespace {

/// Calls `use` with a value of the type.
template <class Use>
decltype(auto) with_type(NumberType type, const Use& use) {
    switch (type) {
        case NumberType::f32: return use(float{});
        case NumberType::f64: return use(double{});
        case NumberType::i8: return use(std::int8_t{});
        case NumberType::i16: return use(std::int16_t{});
        case NumberType::i32: return use(std::int32_t{});
        case NumberType::i64: return use(std::int64_t{});
        case NumberType::u8: return use(std::uint8_t{});
        case NumberType::u16: return use(std::uint16_t{});
        case NumberType::u32: return use(std::uint32_t{});
        case NumberType::u64: break;
    }
    return use(std::uint64_t{});
}

template <class T>
std::span<T> as(std::span<std::byte> bytes) {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
T number_at(std::size_t i, std::uint64_t random, Pattern pattern) {
    using Limits = std::numeric_limits<T>;
    if (pattern == Pattern::ascending) return static_cast<T>(i % 16);
    if constexpr (std::is_floating_point_v<T>) {
        if (pattern == Pattern::constant) return static_cast<T>(0.1);
        if (pattern == Pattern::special && i % 5 == 1) return Limits::denorm_min();
        if (pattern == Pattern::special && i % 5 == 2) return -T{0};
        return static_cast<T>(static_cast<std::int32_t>(static_cast<std::uint32_t>(random))) * static_cast<T>(0x1p-31);
    } else {
        if (pattern == Pattern::constant) return 1;
        if (pattern == Pattern::special && i % 5 == 1) return Limits::max();
        if (pattern == Pattern::special && i % 5 == 2) return Limits::min();
        return static_cast<T>(random);
    }
}

bool is_right(double actual, double expected, double scale, const Tolerance& tolerance) {
    if (std::isnan(expected)) return std::isnan(actual);
    if (std::isinf(expected)) return actual == expected;
    return std::abs(actual - expected) <= tolerance.absolute + tolerance.relative * scale;
}

}  // namespace

void fill_numbers(NumberType type, std::span<std::byte> to, std::uint64_t seed, Pattern pattern) {
    with_type(type, [&](auto zero) {
        auto values = as<decltype(zero)>(to);
        generate(values, [&](std::size_t i) { return number_at<decltype(zero)>(i, random_bits(seed, i), pattern); });
    });
}

void plant_special(NumberType type, std::span<std::byte> values, std::uint64_t seed) {
    with_type(type, [&](auto zero) {
        using T = decltype(zero);
        const auto numbers = as<T>(values);
        if (!std::is_floating_point_v<T> || numbers.size() < 3) return;
        T& one = numbers[random_bits(seed, 0) % numbers.size()];
        if ((seed + numbers.size()) % 3 == 1) one = std::numeric_limits<T>::infinity();
        if ((seed + numbers.size()) % 3 == 2) one = std::numeric_limits<T>::quiet_NaN();
    });
}

std::vector<double> numbers_in(NumberType type, std::span<const std::byte> bytes) {
    return with_type(type, [&](auto zero) {
        const auto values = values_of<decltype(zero)>(bytes);
        std::vector<double> numbers(values.size());
        generate(numbers, [&](std::size_t i) { return static_cast<double>(values[i]); });
        return numbers;
    });
}

Mismatch first_wrong(std::string_view name, NumberType type, std::span<const std::byte> actual,
                     const ExpectedArray& expected, const Tolerance& tolerance) {
    return with_type(type, [&](auto zero) -> Mismatch {
        const auto values = values_of<decltype(zero)>(actual);
        const auto& wanted = expected.values;
        const auto scale = [&](std::size_t i) {
            return expected.scales.empty() ? std::abs(wanted[i]) : expected.scales[i];
        };
        const std::size_t first = first_where(wanted.size(), [&](std::size_t i) {
            return !is_right(static_cast<double>(values[i]), wanted[i], scale(i), tolerance);
        });
        if (first == wanted.size()) return {};
        std::string text =
            fmt::format("{}[{}] is {}, expected {}", name, first, static_cast<double>(values[first]), wanted[first]);
        if (!expected.scales.empty()) text += fmt::format("; errors are measured by {}", scale(first));
        return {text};
    });
}

}  // namespace espalier::bench
