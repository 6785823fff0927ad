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

/// A field as RFC 4180 quotes it, made inert: control characters become visible escapes, and text that
/// a spreadsheet would take for a formula gets a leading apostrophe.
std::string csv_field(std::string_view text);

}  // namespace espalier::bench
