#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/io/number.hpp"

namespace espalier::bench::io {

/// What the numbers of a column count. Cells of different units are no column of numbers.
struct Unit {
    enum class Kind {
        quantity,
        date,     ///< days since 1970-01-01, a time of day as their fraction; no time zone
        instant,  ///< the same of a date with a time zone, in UTC
        time,     ///< of day, as its fraction
    };
    Kind kind = Kind::quantity;
    std::string text{};  ///< of a quantity: "$", "%", "kg"; empty if the number stands alone

    bool operator==(const Unit&) const = default;
};

/// A unit for a message: "'$'", "a date", "no unit".
std::string in_words(const Unit& unit);

struct Amount {
    Number value = 0;
    Unit unit;
};

/// A number, one with a unit before or behind it, one in parentheses or with a minus sign behind it, as accountants
/// write what is negative, or a date or time as ISO 8601 has it ("2024-12-31", "2024-12-31T23:59:59.5+01:00", "23:59").
/// "12%" is 12. Nothing for any other text.
std::optional<Amount> parse_amount(std::string_view text, const NumberFormat& format);

/// Whether a text is such an amount and hardly anything else: of money, of per cent, in parentheses, or a date, of
/// those that are written with slashes or points, too.
bool is_surely_amount(std::string_view text, const NumberFormat& format);

/// What makes a column of these texts numeric: "--thousands ',' or --decimal ','", "--decimal ',' --thousands '.'",
/// "--numeric 3". Empty if nothing does.
std::string option_for_numbers(const std::vector<std::string_view>& texts, const NumberFormat& format,
                               std::size_t column_number);

/// Whether digits are grouped, or decimals marked, in a way that is not `format`.
bool is_number_elsewhere(std::string_view text, const NumberFormat& format);

}  // namespace espalier::bench::io
