#pragma once

#include <string>
#include <string_view>

namespace espalier::bench {

/// `text`, whoever wrote it, as a field of a CSV file that a terminal or a spreadsheet may open: printable, quoted
/// where it must be, and with an apostrophe before what would be a formula. Numbers without a plus stay as
/// they are.
std::string csv_field(std::string_view text);

}  // namespace espalier::bench
