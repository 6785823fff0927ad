#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/records/case_record.hpp"
#include "harness/sweep/options.hpp"
#include "harness/sweep/plan.hpp"
#include "harness/sweep/worker_pool.hpp"

namespace espalier::bench {

/// How the cases of one problem ended, in the order of its planned cases.
struct ProblemOutcome {
    struct Case {
        Status status = Status::not_measured;
        std::string reason, verification;
        std::vector<double> samples_ns;
        std::vector<std::pair<std::string, double>> counters;
        std::string counters_reason;
        double resolution_ns = 0;  ///< recorded in place of shorter samples; 0 if there were none
    };
    std::vector<Case> cases;
    std::vector<std::pair<std::string, double>> conditions;
    double timing_seconds = 0, verification_seconds = 0, counting_seconds = 0;
    double lost_seconds = 0;  ///< in attempts that ended with the worker
    bool stopped = false;     ///< by the user; the cases are worth nothing
};

/// The outcome of a problem none of whose cases ran: `status` for all that could; the others are unsupported.
ProblemOutcome without_running(const PlannedProblem& planned, Status status, const std::string& reason);

struct ProblemBudget {
    double timing_seconds = 10, total_seconds = 1e9;
    std::uint64_t seed = 1;
    Caches caches = Caches::warm;
};

/// Has the worker measure a problem, restarting it without the case it died of for as long as it takes.
/// `tick` is called a few times a second with what is being done.
ProblemOutcome run_problem(WorkerPool& pool, const PlannedProblem& planned, const SweepOptions& options,
                           const ProblemBudget& budget, const std::function<void(const std::string&)>& tick);

}  // namespace espalier::bench
