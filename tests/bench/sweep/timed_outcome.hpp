#pragma once

#include "harness/bench/sweep/plan/plan.hpp"
#include "harness/bench/sweep/worker/problem_run.hpp"

namespace espalier::bench {

/// What comes of a problem of which every case that can run was timed.
inline ProblemOutcome timed_outcome(const PlannedProblem& planned) {
    ProblemOutcome outcome;
    for (const PlannedCase& planned_case : planned.cases) {
        auto& ended = outcome.cases.emplace_back();
        ended.status = planned_case.unsupported.empty() ? Status::ok : Status::unsupported;
        ended.reason = planned_case.unsupported;
        if (ended.status == Status::ok) ended.samples_ns = {1e6, 1.1e6, 1.2e6};
    }
    return outcome;
}

}  // namespace espalier::bench
