#include "harness/bench/sweep/record/problem_outcome.hpp"

namespace espalier::bench {

ProblemOutcome without_running(const PlannedProblem& planned, Status status, const std::string& reason) {
    ProblemOutcome outcome;
    for (const PlannedCase& planned_case : planned.cases) {
        const bool runs = planned_case.unsupported.empty();
        auto& ended = outcome.cases.emplace_back();
        ended.status = runs ? status : Status::unsupported;
        ended.reason = runs ? reason : planned_case.unsupported;
    }
    return outcome;
}

}  // namespace espalier::bench
