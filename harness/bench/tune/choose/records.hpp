#pragma once

#include <string>
#include <vector>

#include "harness/bench/records/case_record.hpp"
#include "harness/bench/tune/choose/tuning.hpp"

namespace espalier::bench::tune {

/// What tuning found as records of a sweep: the family is named after the description's file, the variant after the
/// kernel. An invalid configuration is `wrong` (correctness), `timeout`, `crashed` (runtime) or `unsupported` (compile,
/// constraints).
std::vector<CaseRecord> records_of(const Description& description, const Tuning& tuning, const Bench& bench);

}  // namespace espalier::bench::tune
