#pragma once

#include <optional>
#include <string_view>

#include "harness/apps/tables/amount.hpp"

namespace espalier::bench::io {

/// A date, a date and time, or a time of day, as ISO 8601 has it: 2024-12, 2024-12-31, 2024-12-31T23:59,
/// "2024-12-31 23:59:59.5", 2024-12-31T23:59:59Z, ...+01:00, 23:59, 23:59:59.5. A month is its first day.
std::optional<Amount> parse_iso_time(std::string_view text);

/// Whether it seems to be a date in a customary order, which a program cannot know: 31/12/2024, 12-31-2024, 31.12.24.
bool is_customary_date(std::string_view text);

}  // namespace espalier::bench::io
