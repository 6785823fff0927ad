#pragma once

#include <fmt/core.h>

#include <utility>

namespace espalier::bench {

void to_stderr_formatted(fmt::string_view format, fmt::format_args arguments);

/// Writes a message to the standard error, as fmt::print does, but never throws for what cannot be written there: with
/// the standard error closed or on a full disk the message is lost, and nothing else changes.
template <class... T>
void to_stderr(fmt::format_string<T...> format, T&&... arguments) {
    to_stderr_formatted(format, fmt::make_format_args(arguments...));
}

}  // namespace espalier::bench
