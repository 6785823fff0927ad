#pragma once

#include <filesystem>

#include "harness/bench/tune/describe/description.hpp"

namespace espalier::bench::tune {

/// Runs the description's oracle on a problem's arguments, in a process of its own, and writes the bytes of the outputs
/// to `file`. Throws `Failure` if it fails, takes longer than `timeout_seconds` or returns something of another size.
void run_oracle(const Description& description, std::size_t problem, const std::filesystem::path& folder,
                double timeout_seconds, const std::filesystem::path& file);

/// Calls the function `oracle` of a shared library on the files of a job, in the process that `run_oracle` started.
int run_library_oracle(const std::filesystem::path& job);

}  // namespace espalier::bench::tune
