#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/emit/trained.hpp"

namespace espalier::bench::learn {

/// The decisions of one way of choosing for every problem of a matrix.
struct Decisions {
    std::vector<std::string> choices;  ///< "variant configuration", by problem
    std::vector<std::string> regions;  ///< the path to the leaf, by problem
    std::vector<double> logs;          ///< log(time / best time), by problem; NaN where the choice has no time here
};

/// The tree's decisions for the problems that it was trained on.
Decisions decisions_of(const Trained& trained);

/// The decisions of a tree that was written earlier (its file) for the problems of `trained`, by the times that
/// `trained` has. Nothing if the text is no tree of this family any more.
std::optional<Decisions> decisions_of(std::string_view tree, const Trained& trained, const DeviceInfo& device);

/// A region of the former tree in which something else is chosen now.
struct Change {
    std::string region, from, to;
    std::vector<std::size_t> problems;
    double before = 1, after = 1;  ///< geometric mean regret there; `before` over the problems where it is known
    bool known = true;             ///< whether any problem has a time of the former choice
};

struct DecisionDiff {
    std::string why;
    double before = 1, after = 1;  ///< geometric mean regret over all problems that have both
    std::size_t problems = 0;
    std::vector<Change> changes;  ///< the one that matters most first: problems x gain
};

DecisionDiff compare(const Decisions& before, const Decisions& after);

/// From the tree that was written earlier to the one trained now, with the reason: other data, or the same data and
/// another learner. Nothing if the earlier one cannot be read.
std::optional<DecisionDiff> compare(std::string_view earlier_tree, const Trained& now, const DeviceInfo& device);

/// A few lines for people, every line ended; empty without changes.
std::string describe(const DecisionDiff& diff);

nlohmann::ordered_json to_json(const DecisionDiff& diff);

}  // namespace espalier::bench::learn
