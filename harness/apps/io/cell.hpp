#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/text/printable.hpp"

namespace espalier::bench::io {

/// How a table keeps a number.
using Number = double;

/// A decimal number, correctly rounded; "inf" and what exceeds the type give infinity. Nothing for any other text,
/// "nan" among it. `decimal` stands before the decimals, "," or "."; the other one is no part of a number.
std::optional<Number> parse_number(std::string_view text, char decimal = '.');

/// How tables write that a value is not known. An empty cell always says so.
class MissingWords {
public:
    /// The usual spellings: ?, -, NA, N/A, #N/A, <NA>, null, None, nan and -nan, in any case.
    MissingWords() = default;
    /// These instead, as they are written; none: the usual ones.
    explicit MissingWords(std::vector<std::string> words) : words_(std::move(words)) {}

    [[nodiscard]] bool hold(std::string_view cell) const;

    /// Whether a cell holds a class: unless they were asked for, "-" and "None" are names of classes like any other.
    [[nodiscard]] bool hold_class(std::string_view cell) const;

private:
    std::vector<std::string> words_;
};

/// A cell or a name as a message may show it: short and printable.
inline std::string printable(std::string_view text) { return bench::printable(text, 43); }

}  // namespace espalier::bench::io
