#pragma once

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
