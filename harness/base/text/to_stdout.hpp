#pragma once

#include <fmt/core.h>

#include <utility>

namespace espalier::bench {

void to_stdout_formatted(fmt::string_view format, fmt::format_args arguments);

/// Writes to the standard output as fmt::print does, and printable, whoever wrote the names and texts in it: for what
/// people read. Files that go to the standard output are written as they are. Throws std::system_error.
template <class... T>
void to_stdout(fmt::format_string<T...> format, T&&... arguments) {
    to_stdout_formatted(format, fmt::make_format_args(arguments...));
}

}  // namespace espalier::bench
