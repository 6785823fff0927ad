#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/bench/compare/noise.hpp"

namespace espalier::bench {

/// A case that both sides measured.
struct TimedCase {
    std::string key;                 ///< family/variant|problem|configuration
    std::string variant;             ///< family/variant
    std::string problem;             ///< family|problem
    std::vector<Observation> times;  ///< logarithms of nanoseconds, of the sessions that have it
};

/// How many sessions each side has.
struct Sides {
    std::size_t before = 1, after = 1;
    [[nodiscard]] std::size_t sessions() const { return before + after; }
};

/// The common shift of all variants of a problem between the sides.
struct ProblemShift {
    std::string problem;  ///< family|problem
    double difference = 0;
};

/// Times without what moved together: clocks, memory, neighbours move all variants of a problem alike, and no interval
/// within a session knows.
struct RelativeTimes {
    std::vector<std::vector<Observation>> cases;  ///< as the times of the cases
    /// Of fewer than three variants of one problem nobody can tell which moved. These are relative to the machine, and
    /// with fewer than three variants in all each to its own variant.
    std::vector<bool> alone;
    std::vector<ProblemShift> problems;  ///< that have three variants, in the order of their names
    double machine = 0;                  ///< the median of what moved together
    /// The variance, per session, of a problem's shift about the machine's: what times relative to the machine may be
    /// wrong by. 0 where the machine is not known from problems of three variants.
    double spread = 0;
    bool known_from_problems = false;  ///< `machine` and `spread` are of at least five problems of three variants
    bool known = false;                ///< `machine` is of at least five problems
    std::size_t variants = 0;
    /// Whether there are three variants in all, so that it can be told which of them changed.
    [[nodiscard]] bool tells_variants() const { return variants >= 3; }
};

/// Removes from each problem's times, session by session, the median of its variants (each counts once, with the
/// median of its configurations), so that of three one may change.
RelativeTimes without_shifts(const std::vector<TimedCase>& cases, const Sides& sides);

}  // namespace espalier::bench
