#pragma once

#include <string>

#include "harness/cli/command.hpp"

namespace espalier::bench::cli {

/// Options of `tune --problems`, as they are typed.
struct TuneProblemsOptions {
    std::string problems;                        ///< the file that lists them
    std::string device = "auto";                 ///< for problems that name none; others' if it is not auto
    std::string output, budget = "0", max_time;  ///< empty: as the help says
    bool exhaustive = false, dry_run = false, json = false, quiet = false;
};

/// Measures the problems that a file lists into wisdom, and says what that is worth. Throws Failure, BadData.
void tune_problems(const TuneProblemsOptions& options, ExitCode& code);

}  // namespace espalier::bench::cli
