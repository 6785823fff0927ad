#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/bench/learn/folds.hpp"
#include "harness/bench/learn/learn.hpp"
#include "harness/bench/learn/matrix.hpp"
#include "harness/bench/learn/regret.hpp"
#include "harness/bench/learn/tree.hpp"

namespace espalier::bench::learn {

/// The cost of choosing for problems that nobody trained on, problem by problem.
struct HeldOut {
    /// log(time / best time) of the choice, by problem, NaN where it was never measured; empty if nothing was held out.
    std::vector<double> logs;
    /// What ways of choosing are compared by: the same where nothing was lent; else of all choices what is known or
    /// imputed, or trees would be compared where they choose nothing that was lent.
    std::vector<double> costs;
    std::vector<std::size_t> choices;  ///< the candidate, by problem
    Regret regret;
    /// Choices without a time: those that failed there count as the slowest, the others not at all.
    int unmeasured = 0;
};

/// Trees of several sizes and other ways of choosing, each judged by problems that it had not seen.
struct CrossValidation {
    std::vector<double> prunings;  ///< ascending: `LearnOptions::pruning`; empty if nothing could be held out
    std::vector<double> leaves;    ///< of each, the mean over the folds
    std::vector<HeldOut> held_out;
    std::size_t smallest = 0;  ///< the largest pruning that the one-standard-error rule allows
    bool part_relaxed = true;  ///< of all of them
    HeldOut single;            ///< on the same folds: the choice that is best on average for the others
    HeldOut nearest;           ///< on the same folds: what is best for the nearest of the others

    [[nodiscard]] bool empty() const { return prunings.empty(); }
    [[nodiscard]] const HeldOut& kept() const { return held_out[smallest]; }
};

/// The trees of ascending prunings, on the folds of `evaluation_folds`, parted by relaxing categories or not, as is
/// better on what was held out, and the smallest one that costs no more than the best of them but for one standard
/// error of that one's mean, or a quarter of a percent where that is less (Breiman, Friedman, Olshen and Stone,
/// Classification and Regression Trees, 1984, section 3.4.3).
CrossValidation cross_validate(const Matrix& matrix, const LearnOptions& options);

/// Whether one way of choosing costs less than another where both have a cost, in the mean by more than two
/// standard errors of the difference. Both are of the same folds.
bool costs_less(const HeldOut& one, const HeldOut& other);

/// How good a way of learning and its tree are on one matrix. Only problems count whose choice was not imputed, against
/// the best time measured there. Times are imputed anew for every fold, without what is held out.
struct Evaluation {
    Regret training;           ///< of the tree on the problems that it was learned from
    HeldOut held_out;          ///< of trees learned without the problem: nested cross-validation
    HeldOut held_out_single;   ///< on the same folds: the choice that is best on average for the others
    HeldOut held_out_nearest;  ///< on the same folds: what is best for the nearest of the others
    double best_single = 1;    ///< geometric mean of always taking one choice, the baseline where it is unsupported
    std::size_t best_single_candidate = 0;
};

/// The folds that held-out regret is measured on.
std::vector<Fold> evaluation_folds(const Matrix& matrix, const LearnOptions& options = {});

/// `validation`: of its smallest pruning the tree is.
Evaluation evaluate(const Matrix& matrix, const Tree& tree, const LearnOptions& options,
                    const CrossValidation& validation);

/// log(time / best time) of what the tree chooses for a problem of the matrix.
double log_regret(const Matrix& matrix, const Tree& tree, std::size_t problem);

}  // namespace espalier::bench::learn
