#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harness/records/case_record.hpp"

namespace espalier::bench {

/// The CSV of one family's cases (docs: results contract): the fixed columns, then one per problem
/// feature, then one per counter in alphabetical order, then `transfer_ns` where it was measured. Fields that do not
/// apply are empty. `regret` is the time over the best time of any variant but peers on the same problem.
std::string to_csv(std::span<const CaseRecord> cases);

}  // namespace espalier::bench
