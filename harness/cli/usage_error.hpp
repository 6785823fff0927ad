#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace espalier::bench::cli {

/// Whether there are words before any command that are none: the help or the version was asked of something else.
bool names_no_command(const CLI::App& program);

/// What is wrong with the command line, in one or two lines that begin with the command: what was probably meant, and
/// where the help is.
std::string describe_usage_error(const CLI::App& program, const CLI::ParseError& error);

}  // namespace espalier::bench::cli
