#pragma once

#include <string>
#include <vector>

#include "harness/bench/records/case_record.hpp"
#include "harness/bench/sweep/record/time_spent.hpp"

namespace espalier::bench {

/// How the cases of one problem ended, in the order of its planned cases.
struct ProblemOutcome {
    struct Case {
        Status status = Status::not_measured;
        std::string reason, verification;
        std::vector<std::string> stages;
        std::vector<double> samples_ns;
        NamedValues counters;
        std::string counters_reason;
        double resolution_ns = 0;  ///< recorded in place of shorter samples; 0 if there were none
    };
    std::vector<Case> cases;
    Conditions conditions;
    TimeSpent spent;
    bool stopped = false;  ///< by the user; the cases are worth nothing
};

}  // namespace espalier::bench
