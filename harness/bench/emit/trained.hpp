#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "harness/bench/evidence/evidence.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/learn/evaluation.hpp"
#include "harness/bench/learn/tree.hpp"

namespace espalier::bench::learn {

/// The weights that some problems had in training, because a program asks for them.
struct Weighting {
    std::string file_sha256;   ///< of the file that lists them
    bool by_time = false;      ///< each by its share of the time that calls took, else by its share of the calls
    std::size_t problems = 0;  ///< of the file that were measured here
    double regret = 1;         ///< of the tree on these, by their shares
};

/// A selector of one family for one device: from what it was learned and how good it is.
struct Trained {
    const Family* family;
    Evidence evidence;
    Tree tree{};
    Evaluation evaluation{};
    CrossValidation validation{};          ///< empty if it was not evaluated
    std::optional<Weighting> weighting{};  ///< none: every problem counts alike
    double pruning = 1;                    ///< `LearnOptions::pruning` of the tree
    bool part_relaxed = true;              ///< `LearnOptions::part_relaxed` of it
    bool from_alike = true;                ///< `LearnOptions::from_alike` of it
    double from_alike_geomean = 0;         ///< where it is not: what trees cost that are, on the same held-out problems
    std::string forest{};                  ///< the file of the forest that goes with it; empty if none was asked for
};

}  // namespace espalier::bench::learn
