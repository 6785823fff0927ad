#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/records/case_record.hpp"
#include "harness/bench/sweep/plan/plan.hpp"
#include "harness/bench/sweep/record/problem_outcome.hpp"

namespace espalier::bench {

/// What the records of one sweep of one device have in common.
struct RecordFrame {
    DeviceInfo device;  ///< its ceilings make the rooflines
    std::string driver, runtime, build, session;
    Caches caches = Caches::warm;
    bool counters = false;       ///< asked for
    std::optional<int> ordinal;  ///< of the GPU
};

/// The record of a case of which nothing is known yet.
CaseRecord planned_record(const RecordFrame& frame, const PlannedProblem& planned, const PlannedCase& planned_case);

/// The records of a problem's cases, in their order.
std::vector<CaseRecord> records_of(const RecordFrame& frame, const PlannedProblem& planned,
                                   const ProblemOutcome& outcome);

/// Earlier records (`latest_by_case`) of a problem's planned cases with the counters that were collected since, and the
/// session that did so in `counters_reason`; what else they say stands. Those that are not among `earlier`, or that
/// time did not suffice for, are left out.
std::vector<CaseRecord> with_counters(const std::map<std::string, const CaseRecord*>& earlier, const RecordFrame& frame,
                                      const PlannedProblem& planned, const ProblemOutcome& outcome);

}  // namespace espalier::bench
