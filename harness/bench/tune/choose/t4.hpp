#pragma once

#include <nlohmann/json.hpp>

#include "harness/bench/tune/choose/tuning.hpp"

namespace espalier::bench::tune {

/// What tuning found in the T4 format, a result for each configuration of each problem: times in milliseconds, counters
/// among the measurements. `problem_size`, of descriptions that have one, is this program's own member.
nlohmann::ordered_json t4_results(const Description& description, const Tuning& tuning);

}  // namespace espalier::bench::tune
