#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace espalier::bench::io {

/// How a table keeps a number.
using Number = double;

/// How a table writes numbers.
struct NumberFormat {
    char decimal = '.';  ///< before the decimals: '.' or ','
    /// Between groups of digits: ',', '.', '_', '\'' (the typographic apostrophe, too) or ' ' (the no-break and thin
    /// ones, too). 0: numbers are not grouped.
    char thousands = 0;

    bool operator==(const NumberFormat&) const = default;
};

/// Digits, perhaps with a sign '-' before them and with decimals, 15 of both at most and no zero before others: most
/// numbers there are. `parse_number` makes the same of them, and `is_spelled_by_its_value`. Nothing for any other text.
inline std::optional<Number> parse_plain_number(std::string_view text, char point) {
    constexpr std::array<Number, 16> kPowers{1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                             1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    constexpr std::size_t kMost = 17;  // 15 digits, the sign and the point
    const char* at = text.data();
    const char* const end = at + text.size();
    if (at == end || text.size() > kMost) return std::nullopt;
    const bool negative = *at == '-';
    at += negative;
    const char* const first = at;
    std::int64_t value = 0;
    unsigned digit = 0;
    for (; at != end && (digit = static_cast<unsigned char>(*at) - unsigned{'0'}) < 10; ++at)
        value = 10 * value + digit;
    const auto before = at - first;
    if (before == 0 || (before > 1 && *first == '0')) return std::nullopt;
    std::ptrdiff_t decimals = 0;
    if (at != end) {
        if (*at++ != point) return std::nullopt;
        const char* const behind = at;
        for (; at != end && (digit = static_cast<unsigned char>(*at) - unsigned{'0'}) < 10; ++at)
            value = 10 * value + digit;
        decimals = at - behind;
        if (at != end || decimals == 0) return std::nullopt;
    }
    if (before + decimals > 15) return std::nullopt;
    // Both are exact, so that the quotient is the nearest double (Clinger 1990).
    const Number number = static_cast<Number>(value) / kPowers[static_cast<std::size_t>(decimals)];
    return negative ? -number : number;
}

/// A decimal number, correctly rounded; "inf" and what exceeds the type give infinity. Nothing for any other text,
/// "nan" among it. Groups have three digits, the first one fewer perhaps; or two, the last one three, as in India.
std::optional<Number> parse_number(std::string_view text, const NumberFormat& format = {});

/// What cells have in common that are the same name: texts are themselves, and numbers a spelling of their value, so
/// that "1", "1.0", "+1" and "1e0" are one name, and integers beyond 2^53 stay apart. Digits that begin with a zero
/// ("007") are a text. The result is `cell` or stands in `scratch`.
std::string_view name_of(std::string_view cell, const NumberFormat& format, std::string& scratch);

/// Whether `name_of` the shortest text of a number's double is `name_of` its cell.
bool is_spelled_by_its_value(std::string_view number);

/// The shortest text that `parse_number` makes this number of.
std::string shortest(Number number);

}  // namespace espalier::bench::io
