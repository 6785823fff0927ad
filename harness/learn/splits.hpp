#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/learn/matrix.hpp"
#include "harness/learn/tree.hpp"

namespace espalier::bench::learn {

/// A way to part some problems in two, and what their best two choices cost together.
struct Split {
    Test test;        ///< for a number its value is the largest one on the yes side
    double next = 0;  ///< for a number the smallest value on the no side
    Loss loss = 0;

    [[nodiscard]] bool holds(std::span<const double> row) const { return test.holds(row); }
    /// The test as a tree asks it: a number's threshold is one that a person would choose.
    [[nodiscard]] Test readable() const;
};

/// A split with the least losses of either side: as a leaf, and split once more.
struct DeepSplit {
    Split split;
    Loss yes_leaf = 0, no_leaf = 0;
    Loss yes_split = 0, no_split = 0;  ///< those of a leaf where no further split lowers them
};

struct SplitOptions {
    std::size_t most_thresholds = 0;   ///< per column, at the quantiles of the rows; 0: between any two values
    std::vector<std::size_t> pairs{};  ///< columns made of pairs that may be tested, beside all of the family's own
};

/// Finds the splits of subsets of the rows that it is given. Candidates that another one never loses to
/// on those rows are set aside: they cannot make a tree better.
class Splitter {
public:
    Splitter(const Matrix& matrix, std::span<const std::size_t> rows, const SplitOptions& options);

    /// The same for fewer rows, on which more candidates can be set aside.
    [[nodiscard]] Splitter narrowed(std::span<const std::size_t> rows) const;

    /// The least total loss of one choice for all of them.
    [[nodiscard]] Loss leaf_loss(std::span<const std::size_t> rows) const;
    /// What choosing for each problem alone would cost: no tree does better.
    [[nodiscard]] Loss ideal_loss(std::span<const std::size_t> rows) const;

    /// Every split, the least loss first. Of splits with the same loss one on a derived column is preferred,
    /// because families derive what their times depend on; then the first column and the least value.
    [[nodiscard]] std::vector<Split> all(std::span<const std::size_t> rows) const;

    /// The same splits, each with the best further split of either side: all trees of depth two at the price of
    /// one pass over the rows per split and column.
    [[nodiscard]] std::vector<DeepSplit> all_deep(std::span<const std::size_t> rows) const;

    /// Additions that one search through the splits of `rows` takes.
    [[nodiscard]] std::size_t work(std::span<const std::size_t> rows) const {
        return rows.size() * active_.size() * columns_.size();
    }

private:
    Splitter(const Matrix& matrix, std::span<const std::size_t> rows, const SplitOptions& options,
             std::vector<std::size_t> candidates);

    void split_number(std::size_t column, std::vector<std::size_t>& rows, std::vector<Split>& splits) const;
    void split_category(std::size_t column, std::span<const std::size_t> rows, std::vector<Split>& splits) const;
    struct Side;
    void search_sides(std::size_t column, std::span<const std::size_t> sorted, std::span<const std::uint8_t> side_of,
                      std::array<Side, 2>& sides) const;
    [[nodiscard]] std::vector<std::vector<std::size_t>> sorted_by_column(std::span<const std::size_t> rows) const;
    [[nodiscard]] const Loss* losses(std::size_t row) const { return losses_.data() + row * active_.size(); }
    void add_losses(std::span<const std::size_t> rows, std::vector<Loss>& sums) const;

    const Matrix* matrix_;
    SplitOptions options_;
    std::vector<std::size_t> active_;   ///< candidates worth looking at
    std::vector<std::size_t> columns_;  ///< that may be tested
    std::vector<Loss> losses_;          ///< rows x active
    mutable std::vector<Loss> total_, yes_;
};

}  // namespace espalier::bench::learn
