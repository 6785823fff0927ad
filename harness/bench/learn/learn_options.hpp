#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::bench::learn {

/// The hyperparameters of a tree. docs/performance/selectors.md has what others cost
/// (`tests/bench/train/learner_study.cpp`).
struct LearnOptions {
    std::uint64_t seed = 1;           ///< of folds and bootstraps
    std::size_t max_leaves = 64;      ///< of a tree; where an optional category parts it, of each part
    int max_depth = 13;               ///< tests on any path
    double leaf_penalty = 0.0002;     ///< mean log slowdown that a leaf must win
    double least_win = 0.04;          ///< log slowdown of one of its measured problems that it must win, too
    double pruning = 1;               ///< that and the penalty so many times (tree_size.hpp)
    bool part_relaxed = true;         ///< a relaxing category parts trees as an optional one does
    bool from_alike = true;           ///< learns from devices that are alike, too, where there are any
    std::size_t least_problems = 5;   ///< measured in a leaf, here or on devices that are alike
    std::size_t drawn = 5000;         ///< problems of the domain whose times are predicted
    std::size_t measured_weight = 8;  ///< predicted problems that a measured one counts for at most (`weight_of`)
    std::size_t trees = 32;           ///< of a forest
    std::size_t combinations = 16;    ///< of sizes, that a forest's trees may ask for
};

}  // namespace espalier::bench::learn
