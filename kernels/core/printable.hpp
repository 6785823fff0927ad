#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

/// `text` as a terminal, a table or a page may show it, whoever wrote it: valid UTF-8 in which nothing acts. Control
/// characters (line ends and tabs become spaces), marks that turn the direction of writing or hide text, and bytes that
/// are no UTF-8 become a visible escape: \x1b, \u202e. At most `longest` bytes; what is cut off there ends in "...".
std::string printable(std::string_view text, std::size_t longest = 1024);

/// Printable text, not shortened and with its line ends: for a message of several lines.
std::string printable_lines(std::string_view text);

}  // namespace espalier
