#pragma once

#include <string>

#include "harness/evidence/evidence.hpp"
#include "harness/families/family.hpp"
#include "harness/learn/evaluation.hpp"
#include "harness/learn/tree.hpp"

namespace espalier::bench::learn {

/// A selector of one family for one device: from what, how good, and its C++.
struct Trained {
    const Family* family;
    Evidence evidence;
    Tree tree;
    Evaluation evaluation;
    std::string source;
};

}  // namespace espalier::bench::learn
