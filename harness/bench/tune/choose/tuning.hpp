#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/tune/measure/bench.hpp"

namespace espalier::bench::tune {

/// What tuning found.
struct Tuning {
    std::vector<Outcome> outcomes;  ///< of every problem; a configuration occurs once with each that it was tried for
    std::vector<std::optional<std::size_t>> configurations;  ///< of each problem; nothing if nobody counted them
    bool complete = true;  ///< all configurations of all problems were tried; else time ran out, or it was a search

    /// The fastest outcome of a problem, of those that were timed with the best ones if any was; null if none is valid.
    [[nodiscard]] const Outcome* best(std::size_t problem) const;
};

/// Told of what is being done; `share` of it is done.
using Report = std::function<void(const std::string& what, double share)>;

/// Tunes for every problem of a description, an equal share of the time for each: all configurations if there are few,
/// else a search; then the best ones again, to the noise that the options ask for, with the default among them. With
/// several problems the best of each are measured for all of them, so that a tree can choose.
Tuning tune(const Description& description, const TuneOptions& options, Bench& bench, const Report& report);

}  // namespace espalier::bench::tune
