#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/bench/learn/distances.hpp"
#include "harness/bench/learn/matrix.hpp"

namespace espalier::bench::learn {

/// Predicts what choices cost where nobody measured them, by forests of what they cost where somebody did.
class Surrogate {
public:
    /// `logs`: problems x candidates, logarithms of times, NaN where there is none. Those of one problem are on one
    /// scale, which may be another one for every problem.
    Surrogate(const Matrix& matrix, const Distances& distance, std::vector<double> logs);

    /// Problems that a candidate has a time of. If there is none, nothing is known of it.
    [[nodiscard]] std::size_t samples(std::size_t candidate) const { return samples_[candidate]; }
    /// The logarithm of its time, measured or predicted, less what is common to all choices of the problem.
    [[nodiscard]] double log(std::size_t problem, std::size_t candidate) const {
        return logs_[problem * width_ + candidate];
    }
    /// The uncertainty of a prediction: the distance to the nearest problem that the candidate was measured for, of
    /// axes that are 1 long, and the spread of the trees. 0 where it was measured.
    [[nodiscard]] double uncertainty(std::size_t problem, std::size_t candidate) const {
        return uncertainties_[problem * width_ + candidate];
    }

    /// Enters measured and predicted times of a problem into a matrix of the same problems and candidates.
    void enter(std::size_t problem, Matrix& matrix) const;

private:
    void centre();

    std::size_t width_;
    std::vector<double> logs_, uncertainties_;  ///< problems x candidates
    std::vector<std::size_t> samples_;          ///< by candidate
};

/// Fills in the cells whose state is `imputed` from those that were measured. In a problem that has such cells the
/// others' slowdowns are against the best one, too, be it measured or imputed. Of the times (`log_times`) only those of
/// `rows` are looked at.
void impute(Matrix& matrix, std::span<const std::size_t> rows);

}  // namespace espalier::bench::learn
