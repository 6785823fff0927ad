#pragma once

#include <charconv>
#include <cmath>
#include <iterator>
#include <string>

namespace espalier {

/// Whole numbers in full, else the shortest spelling that reads back the same.
inline std::string plain_number(double value) {
    char text[400];
    constexpr double kLongestWhole = 1e18;
    const bool whole = value == std::floor(value) && std::abs(value) < kLongestWhole;
    const auto end = whole ? std::to_chars(std::begin(text), std::end(text), value, std::chars_format::fixed)
                           : std::to_chars(std::begin(text), std::end(text), value, std::chars_format::general);
    return {std::begin(text), end.ptr};
}

}  // namespace espalier
