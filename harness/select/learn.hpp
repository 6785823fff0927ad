#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "harness/select/grow.hpp"
#include "harness/select/matrix.hpp"
#include "harness/select/regret.hpp"
#include "harness/select/tree.hpp"

namespace espalier::select {

struct LearnOptions {
    int most_leaves = 16;
    double least_gain = 0.001;  ///< a leaf must lower the mean log-slowdown by at least this (0.1%)
    std::size_t folds = 10;
    std::uint64_t seed = 1;
    GrowOptions grow;
};

/// Learns a tree on `rows`: grown, then pruned to the size that cross-validation asks for. Of all sizes
/// the smallest is taken whose held-out loss is within one standard error (of the paired differences,
/// problem by problem) of the best size's.
Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options = {});

/// How good a way of learning and its tree are on one matrix.
struct Evaluation {
    Regret training;         ///< of the tree on the problems that it was learned from
    Regret held_out;         ///< of trees learned without the problem: nested cross-validation
    double best_single = 1;  ///< geometric mean of always taking one choice, the baseline where it is unsupported
    std::size_t best_single_candidate = 0;
};

Evaluation evaluate(const Matrix& matrix, const Tree& tree, const LearnOptions& options = {});

/// log(time / best time) of what the tree chooses for a problem of the matrix.
double log_regret(const Matrix& matrix, const Tree& tree, std::size_t problem);

}  // namespace espalier::select
