#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harness/bench/records/case_record.hpp"

namespace espalier::bench {

/// The column of a feature: its name, or `problem_` and its name where that is another column's (`bytes`, `samples`),
/// so that no name stands twice. A name that only adds such prefixes to another column's gets one more: whoever reads
/// takes one away.
std::string feature_column(std::string_view feature);

/// The CSV of one family's cases (docs/files.md): the fixed columns, then one per problem feature, then
/// one per counter in alphabetical order, then `transfer_ns` where it was measured, then where each case comes from.
/// Fields that do not apply are empty. `regret` is the time over the best time of any variant but peers on the same
/// problem; disturbed cases have none and are no best.
std::string to_csv(std::span<const CaseRecord> cases);

/// The rows of `to_csv` as a JSON array with an object per case and line: numbers are numbers, and what does not apply
/// has no member.
std::string to_json_rows(std::span<const CaseRecord> cases);

}  // namespace espalier::bench
