#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "espalier/error.hpp"
#include "espalier/options.hpp"

/// Checks of a call's arguments, each of which says what is wrong and names the argument; nothing if it passes.
namespace espalier {

inline Error invalid(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

/// Whether the value of an enumeration that counts from 0 to `last` is one of its enumerators.
template <class Enum>
bool is_enumerator(Enum value, Enum last) {
    return static_cast<int>(value) >= 0 && value <= last;
}

/// Says what is wrong with `Options::memory`.
std::optional<Error> invalid_memory(Memory memory);

/// An array that a call cannot do without, of `count` elements: of none it may be null.
std::optional<Error> null_array(const void* data, std::string_view name, std::int64_t count);

/// `Options::threads` out of its range.
std::optional<Error> invalid_threads(const Options& options);

struct NamedSize {
    std::string_view name;
    std::int64_t value;
};

/// Sizes must not be negative, and their product must leave room for index arithmetic.
std::optional<Error> invalid_sizes(std::initializer_list<NamedSize> sizes);

/// Rows of an array that a caller gives as a part of a larger one.
struct Stride {
    std::string_view name;  ///< of the stride
    std::string_view of;    ///< what a row is, with its article
    std::int64_t given;     ///< from one row to the next; 0 for as many as a row has
    std::int64_t rows, row;
    std::string_view unit = "elements";
};

/// A stride must be that of rows which do not overlap, and the last row must be within reach of an index.
std::optional<Error> invalid_stride(const Stride& stride);

/// Says what is wrong with arrays of other sizes than those planned for.
struct SizedAs {
    std::string_view name;
    std::int64_t given, planned;
};
std::optional<Error> other_sizes(std::initializer_list<SizedAs> sizes);

}  // namespace espalier
