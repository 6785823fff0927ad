#pragma once

#include <string>

#include "harness/bench/evidence/evidence.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/learn/evaluation.hpp"
#include "harness/bench/learn/tree.hpp"

namespace espalier::bench::learn {

/// A selector of one family for one device: from what it was learned and how good it is.
struct Trained {
    const Family* family;
    Evidence evidence;
    Tree tree{};
    Evaluation evaluation{};
    CrossValidation validation{};  ///< empty if it was not evaluated
    double pruning = 1;            ///< `LearnOptions::pruning` of the tree
    std::string forest{};          ///< the file of the forest that goes with it; empty if none was asked for
};

}  // namespace espalier::bench::learn
