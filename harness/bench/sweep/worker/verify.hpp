#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harness/bench/families/family.hpp"

namespace espalier::bench {

/// The outcome of verifying one candidate: a mismatch, or what its outputs were found equal to.
struct Verdict {
    Mismatch wrong;
    bool overran = false;    ///< it wrote outside of its outputs: this process's memory is not to be trusted
    std::string how;         ///< "oracle", "twin", "twin+baseline", "twin+fastest" or "baseline"
    double run_seconds = 0;  ///< of one run, launch to completion, untuned: a first estimate
};

/// How often one verification runs a candidate: until `seconds` have passed, but `least` times unless a run is long.
struct Repeats {
    int least = 2;
    double seconds = 0;
};

/// Holds the data of one problem and verifies candidates on it.
///
/// Where the oracle affords the problem (scaled_down.hpp), outputs are compared with the oracle's. Where it does
/// not, the oracle verifies the candidate on a scaled-down problem, and at full size its outputs are compared with
/// those of the baseline, itself so verified: a fault that shows only at full size is found unless the baseline shares
/// it. A candidate that declines the scaled-down problem is compared with the baseline alone. Where the problem cannot
/// shrink, or there is nothing else, the oracle computes all of it, however long it takes.
///
/// On the CPU each verification begins with a run on arrays that end at guard pages, unless they are large: never those
/// that are timed.
///
/// Each verification runs the candidate several times over differently poisoned outputs, so that what was
/// left by an earlier run, and a race that shows now and then, is seen.
///
/// In a sample of problems (`Verification::once`) the same variants are verified over and over, and a naive baseline at
/// full size would take most of the time. There all candidates run on the scaled-down problem first, and at full size
/// are compared with the one that was fastest there. Where they differ the baseline says which is right.
class Verifier {
public:
    Verifier(const Family& family, std::string problem, const DeviceInfo& device, std::uint64_t seed,
             double oracle_operations);

    /// The full problem's data, for timing.
    [[nodiscard]] Bench& bench() { return *bench_; }

    /// Whether `verify` can make use of the baseline's outputs at full size, and the run that gives them.
    [[nodiscard]] bool needs_baseline() const;
    void run_baseline();

    /// Runs a candidate and verifies its outputs.
    Verdict verify(std::size_t variant, const Configuration& configuration, Repeats repeats);

    [[nodiscard]] bool has_scaled_down() const { return !scaled_down_.empty(); }
    /// How many times as much the problem itself computes as the scaled-down one.
    [[nodiscard]] double work_ratio() const;
    /// One run of the scaled-down problem. `run_seconds` is infinite if the candidate declines it.
    Verdict verify_scaled_down(std::size_t variant, const Configuration& configuration);
    /// Whether its results differ from the oracle's by no more than the baseline's may.
    [[nodiscard]] bool is_precise(std::size_t variant) const;
    /// One run at full size of a candidate that was verified on the scaled-down problem or declines it. The first one's
    /// outputs are what the next ones' are compared with.
    Verdict verify_at_full_size(std::size_t variant, const Configuration& configuration);

    /// Fresh inputs for whatever the oracle computes, and another poison for long runs, which get one.
    void refresh(std::uint64_t seed);

private:
    Verdict verify_here_or_scaled_down(std::size_t variant, const Configuration& configuration, Repeats repeats);
    Verdict verify_on(Bench& bench, std::size_t variant, const Configuration& configuration, Repeats repeats);
    Verdict verify_against_reference(std::size_t variant, const Configuration& configuration);
    /// The verdict, once nothing is in flight: what returned before its work was done must not go on to write another's
    /// outputs.
    [[nodiscard]] Verdict once_idle(Verdict verdict) const;
    Verdict verify_on_scaled_down(std::size_t variant, const Configuration& configuration, Repeats repeats);
    /// One run on small data of the CPU that end at guard pages: who reads past an input ends this worker. Whether it
    /// was so short that it may be repeated to see whether memory is kept.
    bool run_before_guard_pages(std::size_t variant, const Configuration& configuration);
    /// One run at full size: its time and its guard bands.
    Verdict run_here(std::size_t variant, const Configuration& configuration);
    /// What the oracle says, taken from equal outputs that it checked before where there are some.
    Mismatch check_values(Bench& bench, std::size_t variant) const;
    /// What differs from the reference's outputs; unset if there is nothing to compare with.
    std::optional<Mismatch> compare_with_reference(std::size_t variant);
    [[nodiscard]] bool baseline_is_reference() const { return reference_ == family_.baseline(device_.kind); }

    const Family& family_;
    std::string problem_;
    DeviceInfo device_;
    std::string scaled_down_;  ///< empty where the oracle verifies the problem itself
    std::unique_ptr<Bench> bench_, scaled_down_bench_;
    std::unique_ptr<Bench> guarded_bench_;  ///< of what the oracle verifies, made when it is first needed
    std::size_t reference_ = Family::npos;  ///< the variant whose outputs at full size the others' are compared with
    bool adopted_ = false;                  ///< they have taken the place of the oracle's
    std::size_t round_ = 0;                 ///< of verification: how often the inputs have been made anew
};

/// What is known of a candidate of a sample before it runs at full size.
struct ScaledDownTime {
    double seconds = 0;          ///< on the scaled-down problem
    double fastest_seconds = 0;  ///< the fastest there
    double work_ratio = 1;       ///< by how much more work the problem is
};

/// Whether it would take a good part of a second, in proportion to the scaled-down problem.
[[nodiscard]] bool takes_long(const ScaledDownTime& time);

/// Whether it is not worth its time at full size, where the fastest took `fastest_seconds`: in proportion it takes long
/// and hundreds of times as long as that. Proportion alone would condemn whoever has fixed costs or needs a large
/// problem to fill the device, so the scaled-down problem has to show the same: hundreds of times the fastest there,
/// and more than what a run costs whatever its size. No choice depends on how much longer.
[[nodiscard]] bool too_slow(const ScaledDownTime& time, double fastest_seconds);

/// Waits for what the bench's device still has to do.
void finish(const DeviceInfo& device);

}  // namespace espalier::bench
