#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/bench/learn/distil.hpp"
#include "harness/bench/learn/learn_options.hpp"
#include "kernels/dispatch/choice_forest.hpp"

namespace espalier::bench::learn {

struct ForestOptions {
    std::size_t trees = 16;
    std::size_t least = 4;       ///< problems in a leaf
    std::size_t tried = 16;      ///< columns of a split
    double most = 3.5;           ///< logarithm to base 2 of the largest slowdown that counts
    bool by_loss = false;        ///< splits by what the best choice of each side costs, not by variance
    std::size_t weight = 8;
    std::uint64_t seed = 1;
};

/// `choices`: candidates of the lesson's matrix.
ChoiceForest distil_forest(const Lesson& lesson, const std::vector<std::size_t>& choices, std::size_t combinations,
                     const ForestOptions& options);

}  // namespace espalier::bench::learn
