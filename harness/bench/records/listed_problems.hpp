#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::bench {

/// A problem that a program asks for: the lines of it in a file that ESPALIER_RECORD names, or in one written by hand.
struct ListedProblem {
    std::string family;
    std::string problem;         ///< its key in canonical form
    std::string device;          ///< key of the device that was asked; empty if no line says
    int threads = 0;             ///< of the host, where that is the device; 0 if no line says
    bool deterministic = false;  ///< `Options::deterministic` was set
    double calls = 0;            ///< how often, in all
    double timed = 0;            ///< of these, calls that waited for their results
    double nanoseconds = 0;      ///< of the timed ones, in all

    /// Nanoseconds of a call; 0 if none was timed.
    [[nodiscard]] double of_a_call() const;
    /// Nanoseconds of all calls, as far as the timed ones tell.
    [[nodiscard]] double of_all_calls() const;
};

/// The problems of a file, lines of the same one added up: those first that took the longest in all, then those that
/// were asked for most often. Throws BadData for a file that cannot be read or lists none, and for a line that is
/// none, which it names with the fix.
std::vector<ListedProblem> read_listed_problems(const std::string& file);

/// The same of a text that was read from `file`.
std::vector<ListedProblem> listed_problems_in(std::string_view text, const std::string& file);

}  // namespace espalier::bench
