#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/failure.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

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

/// One option or argument of a command; its calls may be chained.
///
/// This and `Command` are CLI11's classes without its headers: those compile for seconds per file that includes them,
/// and every subcommand is a file.
class Option {
public:
    explicit Option(CLI::Option& option) : option_(&option) {}

    Option& required();
    /// The value that the variable has now is the default that the help shows.
    Option& capture_default_str();
    /// Several values in one word, with this character between them.
    Option& delimiter(char separator);
    /// What the help calls the value.
    Option& type_name(const std::string& name);
    /// Whether the words after the value are values too.
    Option& allow_extra_args(bool allow);
    Option& excludes(const Option& other);
    /// The environment variable that sets it where the command line does not.
    Option& from_environment(const std::string& variable);
    Option& one_of(const std::vector<std::string>& values);
    Option& within(int least, int most);
    Option& within(double least, double most);
    Option& positive();
    Option& not_negative();
    /// A number of bytes such as 2GiB (parse_bytes).
    Option& bytes();

private:
    CLI::Option* option_;
};

/// A subcommand while it is described, or the program as a whole.
class Command {
public:
    explicit Command(CLI::App& app) : app_(&app) {}

    [[nodiscard]] Command add_subcommand(const std::string& name, const std::string& description);
    /// Parses into `value`, which must outlive the parsing. command.cpp lists the types that there are.
    template <class T>
    Option add_option(const std::string& names, T& value, const std::string& description = "");
    template <class T>
    Option add_flag(const std::string& names, T& value, const std::string& description);
    /// What the help says at its end, before the exit codes.
    void footer(const std::string& text);
    void callback(std::function<void()> function);
    /// Not in the help.
    void hide();

private:
    CLI::App* app_;
};

/// A subcommand: harness/cli/commands/<name>.cpp defines `void add_<name>(Command&, ExitCode&)`; the build lists the
/// files, so adding a command is adding a file.
/// The function adds its subcommand to the program; the subcommand's callback does the work, sets the
/// exit code if it is not `ok`, and throws `Failure` for errors. stdout is data, stderr is everything else.
using AddCommand = void (*)(Command&, ExitCode&);

}  // namespace espalier::bench::cli
