#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "harness/learn/distances.hpp"
#include "harness/learn/imputation.hpp"
#include "harness/learn/matrix.hpp"

namespace espalier::bench::learn {

/// Some choices of one problem, to be measured in one go.
struct Batch {
    std::size_t problem = 0;
    std::vector<std::size_t> candidates;
};

/// Decides what is worth measuring next. A surrogate predicts what a choice costs where it was not measured
/// from what it cost where it was; the uncertainty of a prediction grows with the distance to those problems and with
/// the spread of the trees. The next problem is the one of the largest acquisition value, the margin by which a choice
/// that may be best could beat the one that seems best, its neighbours' values added; and of its choices those are
/// measured that may be best. A problem is returned to when its neighbours make another choice likely there.
class AdaptiveSweep {
public:
    /// Problems that are measured with one configuration of every variant, to begin with.
    static constexpr std::size_t kFirstProblems = 3;

    /// Uses the problems, the features and what is unsupported of `grid`, not its times. It must outlive the sweep.
    explicit AdaptiveSweep(const Matrix& grid);

    /// No candidates once there is nothing left to measure.
    [[nodiscard]] Batch next();

    /// Times of a batch, as logarithms of slowdowns against any common time; NaN where there is none.
    void record(const Batch& batch, const std::vector<double>& logs);

    [[nodiscard]] std::size_t measurements() const { return measurements_; }

    /// What to train on: the whole grid, with predictions for what was not measured. What failed has no time.
    [[nodiscard]] Matrix known();

    /// Problems that anything was measured for.
    [[nodiscard]] std::size_t problems() const { return order_.size(); }

    /// Whether the first problems are still to be measured, without which nothing can be predicted.
    [[nodiscard]] bool opening() const;

private:
    struct Prediction {
        double log = 0, uncertainty = 0;  ///< of a slowdown
    };
    void learn();
    [[nodiscard]] std::vector<Prediction> predict(std::size_t problem, double weight) const;
    [[nodiscard]] Batch best_batch(double weight) const;
    [[nodiscard]] std::pair<Batch, double> acquisition(std::size_t problem, double weight) const;
    [[nodiscard]] bool open(std::size_t problem, std::size_t candidate) const;
    [[nodiscard]] bool timed(std::size_t problem, std::size_t candidate) const;
    [[nodiscard]] bool runs(std::size_t problem) const;
    [[nodiscard]] Batch farthest() const;
    [[nodiscard]] std::vector<std::size_t> one_of_each_variant(std::size_t problem) const;
    [[nodiscard]] std::size_t sibling(std::size_t candidate) const;

    const Matrix* grid_;
    Distances distance_;
    std::size_t width_;
    std::vector<double> logs_;              ///< problems x candidates: log slowdown, NaN if not measured
    std::vector<bool> failed_;              ///< measured without a time
    std::vector<std::size_t> order_;        ///< problems that were measured
    std::optional<Surrogate> surrogate_{};  ///< of what was recorded; none until it is asked again
    std::size_t measurements_ = 0, batches_ = 0, runnable_problems_ = 0;
};

}  // namespace espalier::bench::learn
