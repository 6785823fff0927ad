#pragma once

#include <string>

#include "harness/bench/learn/tree.hpp"
#include "harness/bench/tune/choose/tuning.hpp"

namespace espalier::bench::tune {

/// A tree over a description's sizes, whose leaves each name one configuration.
struct Pick {
    learn::Tree tree;
    std::vector<Configuration> candidates;  ///< that rankings of the tree name
    std::vector<std::size_t> picks;  ///< of each leaf: the first of its ranking that is valid for all its problems
    std::size_t problems = 0;        ///< it was learned from
    double regret = 1;               ///< geometric mean of what the tree picks over the best, on these problems
    double one_regret = 1;           ///< the same of the best one configuration for all of them
};

/// Learns which configuration to pick for which sizes, of those that were timed with the best ones of every problem.
/// Throws `Failure` if none of them is valid for all problems, or the description has no sizes.
Pick learn_pick(const Description& description, const Tuning& tuning);

/// A header of C++17 that needs nothing else: the parameters as a struct, and `pick` of the sizes, in a namespace after
/// the kernel. `device` is where the times are from.
std::string pick_header(const Description& description, const Pick& pick, const std::string& device);

}  // namespace espalier::bench::tune
