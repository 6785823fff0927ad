#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "harness/learn/distances.hpp"
#include "harness/learn/guesses.hpp"
#include "harness/learn/matrix.hpp"

namespace espalier::bench::learn {

/// Some choices of one problem, to be measured in one go.
struct Batch {
    std::size_t problem = 0;
    std::vector<std::size_t> candidates;
};

/// Decides what is worth measuring next. What a choice costs where it was not measured is guessed by a surrogate of
/// what it cost where it was, and a guess is the less certain the farther away that is and the less its trees agree.
/// The next problem is the one where a choice that may be best could beat the one that seems best by most, its
/// neighbours counted, and of its choices those are measured that may be best. A problem is returned to when its
/// neighbours make another choice likely there.
class AdaptiveSweep {
public:
    /// Problems that are measured with one configuration of every variant, to begin with.
    static constexpr std::size_t kFirstProblems = 3;

    /// Of `grid` the problems, features and what is unsupported are used; its times are not looked at. It must outlive
    /// the sweep.
    explicit AdaptiveSweep(const Matrix& grid);

    /// No candidates once there is nothing left to measure.
    [[nodiscard]] Batch next();

    /// Times of a batch, as logarithms of slowdowns against any common time; NaN where there is none.
    void record(const Batch& batch, const std::vector<double>& logs);

    [[nodiscard]] std::size_t measurements() const { return measurements_; }

    /// What to train on: the whole grid, with guesses for what was not measured. What was measured in vain has no time.
    [[nodiscard]] Matrix known();

    /// Problems that anything was measured for.
    [[nodiscard]] std::size_t problems() const { return order_.size(); }

    /// Whether the problems are still to be measured without which guesses have nothing to go by.
    [[nodiscard]] bool opening() const;

private:
    struct Guess {
        double log = 0, doubt = 0;
    };
    void learn();
    [[nodiscard]] std::vector<Guess> guess(std::size_t problem, double caution) const;
    [[nodiscard]] Batch most_at_stake(double caution) const;
    [[nodiscard]] std::pair<Batch, double> stake(std::size_t problem, double caution) const;
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
