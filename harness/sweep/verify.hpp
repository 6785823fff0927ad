#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harness/families/family.hpp"

namespace espalier::bench {

/// The outcome of verifying one candidate: a mismatch, or what its outputs were found equal to.
struct Verdict {
    Mismatch wrong;
    bool overran = false;    ///< it wrote outside of its outputs: this process's memory is not to be trusted
    std::string how;         ///< "oracle", "twin", "twin+baseline" or "baseline"
    double run_seconds = 0;  ///< of one run, launch to completion, untuned: a first estimate
};

/// Of one judgement's runs: until `seconds` have passed, but `least` of them unless a run is long.
struct Repeats {
    int least = 2;
    double seconds = 0;
};

/// Holds the data of one problem and judges candidates on it.
///
/// Where the oracle affords the problem (twin.hpp), outputs are compared with the oracle's. Where it does
/// not, the candidate is judged by the oracle on a scaled-down twin, and at full size its outputs
/// are compared with those of the baseline, itself so judged: a fault that shows only at full size is
/// found unless the baseline shares it. A candidate that declines the twin is compared with the baseline
/// alone. Where the problem cannot shrink, or there is nothing else, the oracle computes all of it, however long
/// it takes.
///
/// Each judgement runs the candidate several times over differently poisoned outputs, so that what was
/// left by an earlier run, and a race that shows now and then, is seen.
class Verifier {
public:
    Verifier(const Family& family, std::string problem, const DeviceInfo& device, std::uint64_t seed,
             double oracle_operations);

    /// The full problem's data, for timing.
    [[nodiscard]] Bench& bench() { return *bench_; }

    /// Whether `judge` can make use of the baseline's outputs at full size, and the run that gives them.
    [[nodiscard]] bool needs_baseline() const;
    void run_baseline();

    /// Runs and judges.
    Verdict judge(std::size_t variant, const Configuration& configuration, Repeats repeats);

    /// Fresh inputs for whatever the oracle computes, and another poison for long runs, which get one.
    void refresh(std::uint64_t seed);

private:
    Verdict judge_here_or_on_the_twin(std::size_t variant, const Configuration& configuration, Repeats repeats);
    Verdict judge_on(Bench& bench, std::size_t variant, const Configuration& configuration, Repeats repeats);
    /// The oracle's judgement, taken from equal outputs that had it before where there are some.
    Mismatch check_values(Bench& bench, std::size_t variant) const;
    /// What differs from the baseline's outputs; unset if there is nothing to compare with.
    std::optional<Mismatch> compare_with_baseline(std::size_t variant);

    const Family& family_;
    std::string problem_;
    DeviceInfo device_;
    std::string twin_;  ///< empty where the oracle judges the problem itself
    std::unique_ptr<Bench> bench_, twin_bench_;
    bool baseline_ran_ = false, adopted_ = false;
    std::size_t round_ = 0;  ///< of judgements: how often the inputs have been made anew
};

/// Waits for what the bench's device still has to do.
void finish(const DeviceInfo& device);

}  // namespace espalier::bench
