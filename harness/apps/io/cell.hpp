#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace espalier::bench::io {

/// A decimal number in single precision, correctly rounded; "inf" and what exceeds single precision give
/// infinity. Nothing for any other text, "nan" among it.
std::optional<float> parse_number(std::string_view text);

/// How tables write that a value is not known: an empty cell, ?, NA or nan (the last two in any case).
bool is_missing(std::string_view text);

/// `text` as a message may show it: at most 40 bytes, control characters replaced, so that a hostile file
/// cannot steer the terminal.
std::string printable(std::string_view text);

}  // namespace espalier::bench::io
