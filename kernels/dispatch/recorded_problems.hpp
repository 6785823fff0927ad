#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// A problem that a program asks for, and where.
struct AskedProblem {
    std::string_view family;
    std::string problem;      ///< its key, without what a caller does not know
    std::string_view device;  ///< its key
    int threads = 0;          ///< of the host, where that is the device; else 0
    bool deterministic = false;
};

/// Whether the environment variable ESPALIER_RECORD names a file for what a program asks for.
[[nodiscard]] bool records_problems() noexcept;

/// Counts a call, and how long it took if it waited for its results. When the program ends the file gets a line of each
/// problem. Without memory a call is not counted.
void record_problem(const AskedProblem& asked, std::optional<double> nanoseconds) noexcept;

}  // namespace espalier
