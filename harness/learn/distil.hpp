#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/learn/matrix.hpp"
#include "harness/learn/tree.hpp"

namespace espalier::bench::learn {

/// What a tree is grown on: the problems of a matrix, of which the first `measured` are evidence and the rest guesses.
struct Lesson {
    Matrix matrix;
    std::size_t measured = 0;
    std::size_t weight = 0;  ///< of all its problems, a guess being 1
};

struct DistilOptions {
    std::size_t most_leaves = 48;
    int deepest = 11;            ///< tests on any path
    double leaf_price = 0.0005;  ///< mean log slowdown that a leaf must win
    std::size_t least_measured = 1;
};

/// A node of a tree that has no rankings yet. Children by index, -1 for none; node 0 is the root.
struct GrownNode {
    Test test{};
    int yes = -1, no = -1;
    std::vector<std::size_t> rows{};
    [[nodiscard]] bool inner() const { return yes >= 0; }
};
using GrownTree = std::vector<GrownNode>;

/// Grows a tree on all problems of a lesson. The split that lowers the total loss most comes first; of equals one on a
/// derived column, then the first column and the least threshold. Where no single split pays the best pair of splits,
/// one below the other, is looked for. Then the tree is pruned back by the price of its leaves. Every leaf has measured
/// problems. Thresholds are numbers that a person would choose.
GrownTree distil(const Lesson& lesson, const DistilOptions& options = {});

/// The numbers that thresholds are taken from: those of the E12 series (IEC 60063), powers of two, and the whole
/// numbers up to 16.
std::span<const double> preferred_numbers();

}  // namespace espalier::bench::learn
