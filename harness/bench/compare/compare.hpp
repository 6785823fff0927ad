#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/bench/records/merge.hpp"
#include "harness/bench/records/results.hpp"

namespace espalier::bench {

enum class Change { same, faster, slower };

/// A ratio after / before, and an interval that holds it with at least 95%, however many others are looked at.
struct RatioInterval {
    double ratio = 1, lo = 1, hi = 1;
};

/// A case that is `ok` on both sides.
struct ComparedCase {
    std::string key;
    double before_ns = 0, after_ns = 0;  ///< of several sessions the geometric mean of the medians
    RatioInterval relative;              ///< without what moved all variants of the problem together
    Change change = Change::same;
    bool alone = false;           ///< fewer than three variants of its problem: relative to the machine
    bool source_changed = false;  ///< of the variant
};

/// A variant over all of its cases.
struct ComparedVariant {
    std::string name;  ///< family/variant
    std::size_t cases = 0, problems = 0;
    RatioInterval relative;
    Change change = Change::same;
    bool alone = false;  ///< fewer than three variants of most of its problems
};

/// A case that was `ok` before and failed after.
struct BrokenCase {
    std::string key, status, reason;
};

/// A problem all of whose variants moved together.
struct ShiftedProblem {
    std::string problem;  ///< family|problem
    double ratio = 1;
};

/// The measurements that were left out because others used the machine.
struct DisturbedCases {
    std::size_t measurements = 0;  ///< a case in a session
    std::size_t cases = 0;         ///< that have no other on one of the sides
    std::string cause;             ///< "other programs used 48% of the processors": what most have in common
};

struct Comparison {
    std::size_t sessions_before = 1, sessions_after = 1;
    std::vector<ComparedCase> cases;        ///< the worst ratio first
    std::vector<ComparedVariant> variants;  ///< the worst ratio first
    std::vector<BrokenCase> broken;
    std::size_t mended = 0;                       ///< failed before and `ok` now
    std::size_t only_before = 0, only_after = 0;  ///< measured on one side alone
    std::size_t repeated = 0;                     ///< measurements that another sweep has, too: they count once
    DisturbedCases disturbed;
    std::optional<double> machine;         ///< ratio after / before of the machine as a whole, where it can be told
    std::vector<ShiftedProblem> problems;  ///< that have three variants, the slowest first
    std::size_t alone = 0;                 ///< cases whose problem has fewer than three variants
    bool tells_variants = true;            ///< there are three variants in all
    /// Standard deviations between sessions (`JudgedChanges`).
    std::optional<double> case_noise, variant_noise;
    /// The least ratio that half of the cases, of the variants, would have been called slower at.
    double least_of_case = 1, least_of_variant = 1;

    [[nodiscard]] std::size_t count(Change change) const;           ///< of cases
    [[nodiscard]] std::size_t count_variants(Change change) const;  ///< of variants
    [[nodiscard]] bool regression() const;                          ///< something is slower, or broken
};

struct CompareOptions {
    double threshold = 0.05;       ///< a difference of less does not count, however sure it is
    bool allow_disturbed = false;  ///< judge what was measured while others used the machine, too; takes repetitions
    MergeOptions pool;             ///< which differences of drivers, builds and cache modes to accept
};

/// One sweep of a side: a session.
struct ComparedSweep {
    std::string name;  ///< for messages
    DeviceResults results;
};

/// Compares sweeps of one device, paired by case, one session or several a side. What moves all variants of a problem
/// together is taken off; what remains is judged against the noise between sessions: measured from the repetitions
/// where there are several, else from how the cases scatter, most of which did not change. Nothing is called changed
/// where nothing changed with 95%, all cases and variants together. A failure in any session after breaks a case that
/// never failed before. Peers are left out: they are not ours to regress. Deterministic. Throws `BadData` for different
/// devices, for a sweep that is there twice, where nothing undisturbed is left, and for different drivers, builds or
/// cache modes unless the options accept them.
Comparison compare(const std::vector<ComparedSweep>& before, const std::vector<ComparedSweep>& after,
                   const CompareOptions& options);

}  // namespace espalier::bench
