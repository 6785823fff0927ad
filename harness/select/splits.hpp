#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/select/matrix.hpp"
#include "harness/select/tree.hpp"

namespace espalier::select {

/// A way to part some problems in two, and what their best two choices cost together.
struct Split {
    Test test;        ///< for a number its value is the largest one on the yes side: see `readable`
    double next = 0;  ///< for a number the smallest value on the no side
    Loss loss = 0;

    [[nodiscard]] bool holds(std::span<const double> row) const { return test.holds(row); }
};

/// Finds the splits of subsets of the rows that it is given. Candidates that another one never loses to
/// on those rows are set aside: they cannot make a tree better.
class Splitter {
public:
    Splitter(const Matrix& matrix, std::span<const std::size_t> rows, std::size_t least_rows);

    /// The least total loss of one choice for all of them.
    [[nodiscard]] Loss leaf_loss(std::span<const std::size_t> rows) const;
    /// What choosing for each problem alone would cost: no tree does better.
    [[nodiscard]] Loss ideal_loss(std::span<const std::size_t> rows) const;

    /// Every split that leaves at least `least_rows` on both sides, in the order of columns and values.
    [[nodiscard]] std::vector<Split> all(std::span<const std::size_t> rows) const;
    /// The loss of the best one, or of a leaf if there is none.
    [[nodiscard]] Loss best_loss(std::span<const std::size_t> rows) const;

    /// Additions that one search through the splits of `rows` takes.
    [[nodiscard]] std::size_t work(std::span<const std::size_t> rows) const {
        return rows.size() * active_.size() * matrix_.columns.size();
    }
    [[nodiscard]] const Matrix& matrix() const { return matrix_; }

private:
    template <class Visit>
    void visit(std::span<const std::size_t> rows, Visit&& visit) const;
    template <class Visit>
    void visit_number(std::size_t column, std::vector<std::size_t>& rows, Visit&& visit) const;
    template <class Visit>
    void visit_category(std::size_t column, std::span<const std::size_t> rows, Visit&& visit) const;
    void set_aside_dominated(std::span<const std::size_t> rows);
    [[nodiscard]] const Loss* losses(std::size_t row) const { return losses_.data() + row * active_.size(); }

    const Matrix& matrix_;
    std::size_t least_rows_;
    std::vector<std::size_t> active_;  ///< candidates worth looking at
    std::vector<Loss> losses_;         ///< rows x active
    mutable std::vector<Loss> total_, yes_;
};

}  // namespace espalier::select
