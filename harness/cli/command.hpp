#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

namespace espalier::cli {

/// What `espalier` exits with. Every error message names its fix.
enum class ExitCode {
    ok = 0,
    failed_variants = 1,  ///< finished, but some variant was wrong, crashed or timed out
    usage = 2,
    no_device = 3,
    bad_data = 4,  ///< a file is missing, malformed, newer than this program, or cannot be written
    regression = 5,
    interrupted = 130,  ///< stopped by a signal, cleanly
};

/// Ends a command with a code and a message for stderr.
class Failure : public std::runtime_error {
public:
    Failure(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
    [[nodiscard]] ExitCode code() const { return code_; }

private:
    ExitCode code_;
};

/// A subcommand: harness/cli/<name>.cpp defines `ExitCode`-setting callbacks in `void add_<name>(CLI::App&,
/// ExitCode&)`; the build lists the files, so adding a command is adding a file.
/// The function adds its subcommand to the application; the subcommand's callback does the work, sets the
/// exit code if it is not `ok`, and throws `Failure` for errors. stdout is data, stderr is everything else.
using AddCommand = void (*)(CLI::App&, ExitCode&);

}  // namespace espalier::cli
