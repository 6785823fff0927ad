#pragma once

#include <functional>
#include <string>

#include "harness/bench/sweep/plan/options.hpp"
#include "harness/bench/sweep/plan/plan.hpp"
#include "harness/bench/sweep/record/problem_outcome.hpp"
#include "harness/bench/sweep/worker/supervised_worker.hpp"

namespace espalier::bench {

struct ProblemBudget {
    double timing_seconds = 10, total_seconds = 1e9;
    std::uint64_t seed = 1;
    Caches caches = Caches::warm;
};

/// Has the worker measure a problem, restarting it without the case it died of for as long as it takes.
/// `tick` is called a few times a second with what is being done.
ProblemOutcome run_problem(SupervisedWorker& worker, const PlannedProblem& planned, const SweepOptions& options,
                           const ProblemBudget& budget, const std::function<void(const std::string&)>& tick);

}  // namespace espalier::bench
