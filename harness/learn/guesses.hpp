#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/learn/matrix.hpp"

namespace espalier::bench::learn {

/// What choices cost where nobody measured them, by forests of what they cost where somebody did.
class Surrogate {
public:
    /// `logs`: problems x candidates, logarithms of times, NaN where there is none. Those of one problem are on one
    /// scale, which may be another one for every problem.
    Surrogate(const Matrix& matrix, std::vector<double> logs);

    /// Whether anything is known of a candidate; if not, there are no guesses of it.
    [[nodiscard]] bool knows(std::size_t candidate) const { return samples_[candidate] > 0; }
    /// Problems that a candidate has a time of.
    [[nodiscard]] std::size_t samples(std::size_t candidate) const { return samples_[candidate]; }
    /// The logarithm of its time, less what is common to all choices of the problem. What was measured is as it was.
    [[nodiscard]] double log(std::size_t problem, std::size_t candidate) const;
    /// How far the trees are from agreeing on it; nothing where it was measured.
    [[nodiscard]] double spread(std::size_t problem, std::size_t candidate) const;
    [[nodiscard]] bool measured(std::size_t problem, std::size_t candidate) const;

    /// Enters what is measured and guessed of a problem into a matrix of the same problems and candidates.
    void enter(std::size_t problem, Matrix& matrix) const;

private:
    void centre();

    std::size_t width_;
    std::vector<double> logs_;  ///< less the problem's level
    std::vector<double> guesses_, spreads_;
    std::vector<std::size_t> samples_;  ///< by candidate
};

/// Fills in the cells whose state is `guessed` from those that were measured. In a problem that has such cells the
/// others' slowdowns are against the best one, too, be it measured or guessed. Of the times (`log_times`) only those of
/// `rows` are looked at.
void enter_guesses(Matrix& matrix, std::span<const std::size_t> rows);

}  // namespace espalier::bench::learn
