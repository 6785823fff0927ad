#pragma once

#include <string>

#include "espalier/explanation.hpp"

namespace espalier::bench::apps {

/// What an explanation says that runs: "knn/cpu_two_stage (budget_mib=64)".
std::string what_runs(const Explanation& explanation);
std::string what_runs(const std::string& variant, const std::string& configuration);

}  // namespace espalier::bench::apps
