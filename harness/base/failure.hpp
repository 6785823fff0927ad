#pragma once

#include <stdexcept>
#include <string>

#include "espalier/error.hpp"
#include "harness/base/text/printable.hpp"

namespace espalier::bench {

/// The exit codes of `espalier`, as docs/commands.md and the help say. Every error message names its fix.
enum class ExitCode {
    ok = 0,
    failed_variants = 1,  ///< finished, but some variant was wrong, crashed or timed out
    usage = 2,
    no_device = 3,  ///< it is not there, another sweep has it, or it was lost
    bad_data = 4,   ///< a file is missing, malformed, newer than this program, or cannot be written
    regression = 5,
    interrupted = 128,  ///< and more: 128 + the signal that stopped it, cleanly
};

/// Ends a command with a code and a message for stderr.
class Failure : public std::runtime_error {
public:
    Failure(ExitCode code, const std::string& message) : std::runtime_error(printable_lines(message)), code_(code) {}
    [[nodiscard]] ExitCode code() const { return code_; }

private:
    ExitCode code_;
};

/// The exit code that an error of the library means.
ExitCode exit_code_of(ErrorCode code);

/// Throws the library's error as a Failure; returns its value otherwise.
template <class T>
T value_or_fail(Result<T> result) {
    if (!result) throw Failure(exit_code_of(result.error().code), result.error().message);
    return std::move(result).value();
}
inline void succeed_or_fail(const Result<void>& result) {
    if (!result) throw Failure(exit_code_of(result.error().code), result.error().message);
}

}  // namespace espalier::bench
