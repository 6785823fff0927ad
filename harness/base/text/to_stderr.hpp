#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace espalier::bench {

/// Writes to the standard error as it is, what acts on a terminal too: for lines that are drawn over. Fails in silence.
void to_stderr_as_it_is(std::string_view text);

void to_stderr_formatted(fmt::string_view format, fmt::format_args arguments);

/// Writes a message to the standard error, printable whoever wrote what it quotes. Unlike fmt::print it never throws
/// for what cannot be written there: with the standard error closed or on a full disk the message is lost, and nothing
/// else changes.
template <class... T>
void to_stderr(fmt::format_string<T...> format, T&&... arguments) {
    to_stderr_formatted(format, fmt::make_format_args(arguments...));
}

}  // namespace espalier::bench
