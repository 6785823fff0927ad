#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/bench/records/conditions.hpp"
#include "harness/bench/tune/space/space.hpp"
#include "harness/bench/tune/worker/job.hpp"

namespace espalier::bench::tune {

/// What came of a configuration for a problem.
struct Outcome {
    Configuration configuration;
    std::size_t problem = 0;
    Invalidity invalidity = Invalidity::correct;
    std::string reason;                           ///< why it is invalid
    std::vector<double> samples_ns;               ///< of the last job that timed it; empty if none did
    double time_ns = 0, low_ns = 0, high_ns = 0;  ///< median and its 95% interval
    double resolution_ns = 0;
    double compile_seconds = 0, verify_seconds = 0;
    double at_seconds = 0;  ///< when its first time was known, since tuning began
    std::string timestamp;  ///< the same by the calendar, UTC
    bool final = false;     ///< timed with the best ones, to the noise asked for
    NamedValues counters;
    std::string counters_reason;
    std::optional<Conditions> conditions;

    [[nodiscard]] bool timed() const { return invalidity == Invalidity::correct && !samples_ns.empty(); }
};

}  // namespace espalier::bench::tune
