#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "espalier/error.hpp"

/// What is wrong with a call's arguments, each check in words that name the argument; nothing if it passes.
namespace espalier {

inline Error invalid(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

/// Whether the value of an enumeration that counts from 0 to `last` is one of its enumerators.
template <class Enum>
bool is_enumerator(Enum value, Enum last) {
    return static_cast<int>(value) >= 0 && value <= last;
}

struct NamedSize {
    std::string_view name;
    std::int64_t value;
};

/// Sizes must not be negative, and their product must leave room for index arithmetic.
std::optional<Error> invalid_sizes(std::initializer_list<NamedSize> sizes);

/// An array of a call: `count` elements of `bytes` each. One of no elements may be null.
struct NamedArray {
    std::string_view name;
    const void* data;
    std::int64_t count;
    std::size_t bytes;
    bool output;
};

template <class T>
NamedArray input_array(std::string_view name, const T* data, std::int64_t count) {
    return {name, data, count, sizeof(T), false};
}
template <class T>
NamedArray output_array(std::string_view name, T* data, std::int64_t count) {
    return {name, data, count, sizeof(T), true};
}

/// Arrays must be there, aligned to their elements (which are scalars), and no output may overlap another array.
std::optional<Error> invalid_arrays(std::initializer_list<NamedArray> arrays);

}  // namespace espalier
