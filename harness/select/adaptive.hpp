#pragma once

#include <cstddef>
#include <vector>

#include "harness/select/learn.hpp"
#include "harness/select/matrix.hpp"

namespace espalier::select {

struct AdaptiveOptions {
    double caution = 0.5;           ///< log slowdown by which a guess may be off where nothing near was measured
    std::size_t least_choices = 3;  ///< measured together, so that their ratios are paired
    std::size_t most_choices = 6;
    double least_stake = 0.005;     ///< log slowdown that is not worth a measurement
    double reach = 0.3;             ///< as far as a measurement tells something about others; an axis is 1 long
    std::size_t full_problems = 1;  ///< measured with every choice, to begin with
};

/// Some choices of one problem, to be measured in one go.
struct Batch {
    std::size_t problem = 0;
    std::vector<std::size_t> candidates;
};

/// Decides what is worth measuring next. What a choice costs where it was not measured is guessed from where it was,
/// by nearness in the problems' own features; a guess is the less certain the farther away that is. The next problem is
/// the one where a choice that may be best could beat the one that seems best by most, its neighbours counted, and of
/// its choices those are measured that may be best. A problem is returned to when its neighbours make another choice
/// likely there.
class AdaptiveSweep {
public:
    /// Of `grid` the problems, features and what is unsupported are used; its times are not looked at.
    explicit AdaptiveSweep(const Matrix& grid, const AdaptiveOptions& options = {});

    /// No candidates once there is nothing left to measure.
    [[nodiscard]] Batch next() const;

    /// Times of a batch, as logarithms of slowdowns against any common time; NaN where there is none.
    void record(const Batch& batch, const std::vector<double>& logs);

    [[nodiscard]] std::size_t measurements() const { return measurements_; }

    /// What to train on: the problems that were measured, with guesses for the choices that were not.
    [[nodiscard]] Matrix known() const;

private:
    struct Guess {
        double log = 0, doubt = 0;
    };
    [[nodiscard]] std::vector<Guess> guess(std::size_t problem, double caution) const;
    [[nodiscard]] Batch most_at_stake(double caution) const;
    [[nodiscard]] std::size_t fastest(std::size_t problem) const;
    [[nodiscard]] bool open(std::size_t problem, std::size_t candidate) const;
    [[nodiscard]] Batch farthest() const;
    [[nodiscard]] double distance(std::size_t a, std::size_t b) const;

    const Matrix* grid_;
    AdaptiveOptions options_;
    std::vector<double> positions_;  ///< problems x own columns, each axis of length 1
    std::size_t axes_ = 0;
    std::vector<std::vector<double>> logs_;  ///< by problem, by candidate: log slowdown, NaN if not measured
    std::vector<std::vector<bool>> failed_;  ///< measured without a time
    std::vector<std::size_t> order_;         ///< problems that were measured
    std::size_t measurements_ = 0;
};

}  // namespace espalier::select
