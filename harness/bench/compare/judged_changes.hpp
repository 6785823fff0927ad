#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/compare/noise.hpp"
#include "harness/bench/compare/session_shift.hpp"

namespace espalier::bench {

/// A variant over all of its problems: a change that no case shows by itself, all of them may show together.
struct JudgedVariant {
    std::string variant;  ///< family/variant
    std::size_t cases = 0, problems = 0;
    bool alone = false;  ///< most of its problems have fewer than three variants
    Judged judged;
};

struct JudgedChanges {
    std::vector<Judged> cases;            ///< as the times of the cases
    std::vector<JudgedVariant> variants;  ///< in the order of their names
    /// The probabilities with which intervals miss (`discovery_level`).
    double case_level = 0, variant_level = 0;
    /// Standard deviations between sessions, as logarithms: of a case, and of a variant beyond what the scatter of its
    /// problems explains. Nothing where too few were measured to tell.
    std::optional<double> case_noise, variant_noise;
};

/// Judges every case and every variant. `allowances` are what the load on each case may have cost one side more than
/// the other. With 95% nothing is a discovery where nothing changed: half of the 5% is for cases, half for variants.
JudgedChanges judge_changes(const std::vector<TimedCase>& cases, const std::vector<double>& allowances,
                            const RelativeTimes& times, const Sides& sides);

}  // namespace espalier::bench
