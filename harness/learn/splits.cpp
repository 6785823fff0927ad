#include "harness/learn/splits.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "harness/learn/threshold.hpp"

namespace espalier::bench::learn {
namespace {

std::vector<std::size_t> first_numbers(std::size_t count) {
    std::vector<std::size_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    return numbers;
}

/// Those of `candidates` that no other one matches or beats on every row; of equals the first.
std::vector<std::size_t> undominated(const Matrix& matrix, std::span<const std::size_t> rows,
                                     const std::vector<std::size_t>& candidates) {
    const auto never_worse = [&](std::size_t a, std::size_t b) {
        return std::all_of(rows.begin(), rows.end(),
                           [&](std::size_t r) { return matrix.loss_of(r, a) <= matrix.loss_of(r, b); });
    };
    std::vector<std::size_t> kept;
    for (const std::size_t c : candidates) {
        if (std::any_of(kept.begin(), kept.end(), [&](std::size_t other) { return never_worse(other, c); })) continue;
        std::erase_if(kept, [&](std::size_t other) { return never_worse(c, other); });
        kept.push_back(c);
    }
    return kept;
}

/// The family's own columns and the pairs that may be tested, ascending.
std::vector<std::size_t> testable(const Matrix& matrix, const SplitOptions& options) {
    std::vector<std::size_t> columns = options.pairs;
    for (std::size_t c = 0; c < matrix.columns.size(); ++c)
        if (matrix.columns[c].always_testable()) columns.push_back(c);
    std::sort(columns.begin(), columns.end());
    return columns;
}

/// The loss of the best choice of the yes side plus that of the best choice of the rest.
Loss parted_loss(const std::vector<Loss>& yes, const std::vector<Loss>& total) {
    Loss best_yes = std::numeric_limits<Loss>::max(), best_no = best_yes;
    for (std::size_t c = 0; c < yes.size(); ++c) {
        best_yes = std::min(best_yes, yes[c]);
        best_no = std::min(best_no, total[c] - yes[c]);
    }
    return best_yes + best_no;
}

}  // namespace

/// One side of a split, searched for its own best split while the rows of both sides pass by.
struct Splitter::Side {
    explicit Side(std::size_t candidates) : total(candidates), sum(candidates) {}

    /// Forgets what has passed by.
    void restart() {
        std::fill(sum.begin(), sum.end(), Loss{0});
        any = false;
    }
    void consider() { best = std::min(best, parted_loss(sum, total)); }
    void pass(const Loss* losses) {
        for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += losses[c];
        any = true;
    }

    std::vector<Loss> total;
    std::vector<Loss> sum;  ///< of what has passed by
    bool any = false;       ///< whether anything has passed by
    double last = 0;        ///< value of the row that passed by last
    Loss best = 0;
};

Test Split::readable() const {
    Test result = test;
    if (!test.category) result.value = readable_threshold(test.value, next);
    return result;
}

Splitter::Splitter(const Matrix& matrix, std::span<const std::size_t> rows, const SplitOptions& options)
    : Splitter(matrix, rows, options, first_numbers(matrix.candidates.size())) {}

Splitter::Splitter(const Matrix& matrix, std::span<const std::size_t> rows, const SplitOptions& options,
                   std::vector<std::size_t> candidates)
    : matrix_(&matrix),
      options_(options),
      active_(undominated(matrix, rows, candidates)),
      columns_(testable(matrix, options)),
      losses_(matrix.rows() * active_.size()),
      total_(active_.size()),
      yes_(active_.size()) {
    for (const std::size_t r : rows)
        for (std::size_t c = 0; c < active_.size(); ++c)
            losses_[r * active_.size() + c] = matrix.loss_of(r, active_[c]);
}

Splitter Splitter::narrowed(std::span<const std::size_t> rows) const {
    return Splitter(*matrix_, rows, options_, active_);
}

void Splitter::add_losses(std::span<const std::size_t> rows, std::vector<Loss>& sums) const {
    for (const std::size_t r : rows)
        for (std::size_t c = 0; c < active_.size(); ++c) sums[c] += losses(r)[c];
}

Loss Splitter::leaf_loss(std::span<const std::size_t> rows) const {
    std::fill(total_.begin(), total_.end(), Loss{0});
    add_losses(rows, total_);
    return *std::min_element(total_.begin(), total_.end());
}

Loss Splitter::ideal_loss(std::span<const std::size_t> rows) const {
    Loss sum = 0;
    for (const std::size_t r : rows) sum += *std::min_element(losses(r), losses(r) + active_.size());
    return sum;
}

std::vector<Split> Splitter::all(std::span<const std::size_t> rows) const {
    std::vector<Split> splits;
    if (rows.empty()) return splits;
    static_cast<void>(leaf_loss(rows));  // leaves the sums in total_
    std::vector<std::size_t> sorted(rows.begin(), rows.end());
    for (const std::size_t column : columns_)
        if (matrix_->columns[column].categories == 0)
            split_number(column, sorted, splits);
        else
            split_category(column, rows, splits);
    const auto order = [&](const Split& s) {
        const Column& column = matrix_->columns[s.test.column];
        return std::tuple(s.loss, column.is_pair(), !column.derived, s.test.column, s.test.value);
    };
    std::sort(splits.begin(), splits.end(), [&](const Split& a, const Split& b) { return order(a) < order(b); });
    return splits;
}

std::vector<std::vector<std::size_t>> Splitter::sorted_by_column(std::span<const std::size_t> rows) const {
    std::vector<std::vector<std::size_t>> sorted(columns_.size(), {rows.begin(), rows.end()});
    for (std::size_t i = 0; i < sorted.size(); ++i)
        std::sort(sorted[i].begin(), sorted[i].end(), [&](std::size_t a, std::size_t b) {
            return matrix_->value(a, columns_[i]) < matrix_->value(b, columns_[i]);
        });
    return sorted;
}

std::vector<DeepSplit> Splitter::all_deep(std::span<const std::size_t> rows) const {
    const auto sorted = sorted_by_column(rows);
    std::vector<DeepSplit> deep;
    std::array<Side, 2> sides{Side(active_.size()), Side(active_.size())};
    std::vector<std::uint8_t> side_of(matrix_->rows());
    std::set<std::vector<std::uint8_t>> seen;
    for (const Split& split : all(rows)) {
        for (const std::size_t r : rows) side_of[r] = !split.holds(matrix_->row(r));
        if (!seen.insert(side_of).second) continue;
        for (Side& side : sides) side = Side(active_.size());
        for (const std::size_t r : rows) {
            Side& side = sides[side_of[r]];
            add_losses({&r, 1}, side.total);
        }
        for (Side& side : sides) side.best = *std::min_element(side.total.begin(), side.total.end());
        DeepSplit& now = deep.emplace_back(split, sides[0].best, sides[1].best);
        for (std::size_t i = 0; i < sorted.size(); ++i) search_sides(columns_[i], sorted[i], side_of, sides);
        now.yes_split = sides[0].best, now.no_split = sides[1].best;
    }
    return deep;
}

/// Numbers: a boundary is where a side's value grows. Categories: each value's rows against the others.
void Splitter::search_sides(std::size_t column, std::span<const std::size_t> sorted,
                            std::span<const std::uint8_t> side_of, std::array<Side, 2>& sides) const {
    const bool category = matrix_->columns[column].categories > 0;
    for (Side& side : sides) side.restart();
    for (const std::size_t r : sorted) {
        Side& side = sides[side_of[r]];
        const double value = matrix_->value(r, column);
        if (side.any && value != side.last) {
            side.consider();
            if (category) side.restart();
        }
        side.pass(losses(r));
        side.last = value;
    }
    if (category)
        for (Side& side : sides) side.consider();
}

void Splitter::split_number(std::size_t column, std::vector<std::size_t>& rows, std::vector<Split>& splits) const {
    const auto value = [&](std::size_t at) { return matrix_->value(rows[at], column); };
    std::sort(rows.begin(), rows.end(),
              [&](std::size_t a, std::size_t b) { return matrix_->value(a, column) < matrix_->value(b, column); });
    if (value(0) == value(rows.size() - 1)) return;
    const auto quantile = [&](std::size_t count) { return count * (options_.most_thresholds + 1) / rows.size(); };
    std::size_t last_quantile = 0;
    std::fill(yes_.begin(), yes_.end(), Loss{0});
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
        add_losses({&rows[i], 1}, yes_);
        if (value(i) == value(i + 1)) continue;
        if (options_.most_thresholds > 0 && quantile(i + 1) == last_quantile) continue;
        last_quantile = quantile(i + 1);
        splits.push_back({{column, false, value(i)}, value(i + 1), parted_loss(yes_, total_)});
    }
}

void Splitter::split_category(std::size_t column, std::span<const std::size_t> rows, std::vector<Split>& splits) const {
    for (int category = 0; category < matrix_->columns[column].categories; ++category) {
        std::fill(yes_.begin(), yes_.end(), Loss{0});
        std::size_t yes = 0;
        for (const std::size_t r : rows)
            if (matrix_->value(r, column) == category) add_losses({&r, 1}, yes_), ++yes;
        if (yes == 0 || yes == rows.size()) continue;
        splits.push_back({{column, true, static_cast<double>(category)}, 0, parted_loss(yes_, total_)});
    }
}

}  // namespace espalier::bench::learn
