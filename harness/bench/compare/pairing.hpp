#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "harness/bench/compare/compare.hpp"

namespace espalier::bench {

/// The records of one case, by the number of their session; those before come first.
using CaseSessions = std::map<std::size_t, const CaseRecord*>;

/// The sweeps' cases by their keys, without peers. What is of one session and has the same samples as another sweep's
/// is one measurement: it stays with the first sweep, and `repeated` counts it. Throws `BadData` for a sweep of which
/// nothing else is left.
std::map<std::string, CaseSessions> cases_by_key(const std::vector<const ComparedSweep*>& sweeps,
                                                 std::size_t& repeated);

/// Throws `BadData` for different devices, and for different drivers, builds or cache modes unless they are accepted.
void refuse_differences(const std::vector<const ComparedSweep*>& sweeps, const MergeOptions& allow);

/// The logarithm of the share of the processors that others left while this was measured; 0 on a GPU.
double log_share_left(const CaseRecord& record);

}  // namespace espalier::bench
