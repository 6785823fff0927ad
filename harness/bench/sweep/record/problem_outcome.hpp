#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/bench/records/case_record.hpp"
#include "harness/bench/sweep/plan/plan.hpp"

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

}  // namespace espalier::bench
