#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/bench/sweep/worker/condition_watch.hpp"
#include "harness/bench/sweep/worker/progress_page.hpp"
#include "harness/bench/sweep/worker/sampler.hpp"

namespace espalier::bench {

/// A candidate that is being timed, and the samples taken of it.
struct TimedCandidate {
    std::string name;
    std::uint32_t index = 0;  ///< for the progress page
    std::function<void()> run;
    double estimate_ns = 0;  ///< of a run, from the verification
    std::vector<double> samples_ns{};
    /// Recorded in place of samples that were shorter than the sampler can tell from nothing; 0 if none was.
    double resolution_ns = 0;
};

struct TimingGoal {
    double noise = 0.005;    ///< relative half-width of the interval of the median ratio to the best
    double seconds = 10;     ///< budget; the least number of rounds may go beyond it
    double deadline = 1e18;  ///< steady seconds after which no sample is begun
    std::uint64_t seed = 1;
};

/// Least samples that a candidate needs to count as measured.
inline constexpr std::size_t kLeastRounds = 3;

struct TimingOutcome {
    std::size_t rounds = 0, disturbed = 0, repeated = 0;  ///< repeated ones are not among the rounds

    /// Share of the rounds that were disturbed and counted all the same.
    [[nodiscard]] double disturbed_share() const {
        return rounds == 0 ? 0 : static_cast<double>(disturbed - repeated) / static_cast<double>(rounds);
    }
};

/// Times all candidates in rounds: each round takes one sample of each, in random order, so that what drifts
/// meets all of them alike and sample i of any two is a pair. A candidate leaves when it is eliminated (more
/// than three times as slow as the best, intervals apart) or has converged (its ratio to the best is known well
/// enough); the rest go on until the goal or the budget is reached. A disturbed round is discarded and repeated, up to
/// a limit. Samples are those of `take_sample`. Throws what a run throws, with the progress page still naming its
/// candidate.
TimingOutcome time_in_rounds(std::vector<TimedCandidate>& candidates, Sampler& sampler, ConditionWatch& conditions,
                             const TimingGoal& goal, ProgressPage& progress);

}  // namespace espalier::bench
