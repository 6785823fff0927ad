#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/select/folds.hpp"
#include "harness/select/matrix.hpp"
#include "harness/select/regret.hpp"
#include "harness/select/sizes.hpp"
#include "harness/select/tree.hpp"

namespace espalier::select {

struct LearnOptions {
    int most_leaves = 16;
    double least_gain = 0.001;  ///< what a leaf costs: it must lower the mean log-slowdown by as much (0.1%)
    std::size_t folds = 5;      ///< that choose the size
    std::uint64_t seed = 1;
    SizesOptions sizes;
};

/// Learns a tree on `rows`: of the best trees of every size (`trees_by_size`) the smallest one whose
/// held-out loss is within one standard error of the best size's. The error is that of the differences
/// problem by problem, so that a problem which is hard for all sizes does not excuse a small tree.
Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options = {});

/// How good a way of learning and its tree are on one matrix.
struct Evaluation {
    Regret training;         ///< of the tree on the problems that it was learned from
    Regret held_out;         ///< of trees learned without the problem: nested cross-validation
    double best_single = 1;  ///< geometric mean of always taking one choice, the baseline where it is unsupported
    std::size_t best_single_candidate = 0;
};

/// The folds that held-out regret is measured on.
std::vector<Fold> evaluation_folds(const Matrix& matrix, const LearnOptions& options = {});

Evaluation evaluate(const Matrix& matrix, const Tree& tree, const LearnOptions& options = {});

/// log(time / best time) of what the tree chooses for a problem of the matrix.
double log_regret(const Matrix& matrix, const Tree& tree, std::size_t problem);

}  // namespace espalier::select
