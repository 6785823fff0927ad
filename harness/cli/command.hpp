#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/failure.hpp"
#include "harness/cli/parse.hpp"

namespace espalier::bench::cli {

/// The table of exit codes, for the end of the help.
inline constexpr const char* kExitCodes =
    "Exit codes: 0 done; 1 some variant was wrong, crashed or timed out; 2 wrong usage; 3 a device is not there, "
    "was\n"
    "lost or is in use by another sweep; 4 a file cannot be read, understood or written; 5 compare found a "
    "regression;\n"
    "128 + the number of a signal: "
    "129 hang-up, 130 Ctrl-C, 141 nobody reads the output, 143 terminated. Files are whole then: the old or the new "
    "one.";

/// How `compare` reads the word `--`, which stands between its sides: the parser would take it for the end of the
/// options, and keep it to itself.
inline constexpr const char* kBetweenSides = "\x1d";

/// A subcommand: harness/cli/commands/<name>.cpp defines `void add_<name>(CLI::App&, ExitCode&)`; the build lists the
/// files, so adding a command is adding a file.
/// The function adds its subcommand to the program; the subcommand's callback does the work, sets the
/// exit code if it is not `ok`, and throws `Failure` for errors. stdout is data, stderr is everything else.
using AddCommand = void (*)(CLI::App&, ExitCode&);

/// Sets what the help of a command says at its end, before the exit codes.
void set_footer(CLI::App& command, const std::string& text);

// Checks of an option's value. CLI11 puts the option's name before what a check says.

/// One of these words; the nearest is offered in place of another one.
CLI::Validator one_of(const std::vector<std::string>& values);
CLI::Validator positive();

/// `least <= value <= most`.
template <class T>
CLI::Validator within(T least, T most) {
    return {[least, most](const std::string& text) -> std::string {
                const double value = number_in(text);
                const bool inside = value >= static_cast<double>(least) && value <= static_cast<double>(most);
                return inside ? "" : fmt::format("must be {} to {}, not {}", least, most, text);
            },
            fmt::format("in [{}, {}]", least, most)};
}

/// Adds an option for a number. Text that the type cannot hold is refused in words of the user's: CLI11's own
/// conversion says less, and takes -1 for the largest number without a sign.
template <class T>
CLI::Option* add_number(CLI::App& command, const std::string& names, T& value, const std::string& description = "") {
    const auto refusal = [](const std::string& text) -> std::string {
        if constexpr (std::floating_point<T>)
            return std::isfinite(number_in(text)) ? "" : "'" + text + "' is not a finite number";
        else if (is_whole<T>(text))
            return "";
        else
            return "'" + text + "' is not a whole number" + (std::unsigned_integral<T> ? " from 0 on" : "") +
                   ", or is too large";
    };
    return command.add_option(names, value, description)->check(CLI::Validator(refusal, ""));
}

/// Adds an option for a number of bytes, such as 2GiB.
CLI::Option* add_size(CLI::App& command, const std::string& names, std::uint64_t& bytes,
                      const std::string& description);

}  // namespace espalier::bench::cli
