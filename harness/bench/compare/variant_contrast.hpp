#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/compare/noise.hpp"
#include "harness/bench/compare/session_shift.hpp"

namespace espalier::bench {

/// The variance of one session that is common to all cases; nothing where it is not known.
struct CaseNoise {
    std::optional<double> together;  ///< of cases whose problem has three variants
    std::optional<double> alone;     ///< of those that are relative to the machine
    double prior_degrees = 3;        ///< of all (`Contrast`)
};

/// A variant over all of its problems.
struct VariantContrast {
    std::string variant;  ///< family/variant
    std::size_t cases = 0, problems = 0;
    bool alone = false;       ///< most of its problems have fewer than three variants
    bool noise_known = true;  ///< of all of its cases
    Contrast contrast;        ///< `known` says what the scatter of its problems explains
};

/// Each variant's sessions: the median over its problems, weighted by precision. Its variance comes from the scatter of
/// the problems: the variant's own, moderated by what is common to all cases. In the order of the variants' names.
std::vector<VariantContrast> variant_contrasts(const std::vector<TimedCase>& cases, const RelativeTimes& times,
                                               const CaseNoise& noise, const Sides& sides);

}  // namespace espalier::bench
