#include "harness/select/splits.hpp"

#include <algorithm>
#include <limits>

namespace espalier::select {

Splitter::Splitter(const Matrix& matrix, std::span<const std::size_t> rows, std::size_t least_rows)
    : matrix_(matrix), least_rows_(least_rows) {
    set_aside_dominated(rows);
    losses_.reserve(matrix.rows() * active_.size());
    for (std::size_t r = 0; r < matrix.rows(); ++r)
        for (const std::size_t c : active_) losses_.push_back(matrix.loss_of(r, c));
    total_.resize(active_.size());
    yes_.resize(active_.size());
}

void Splitter::set_aside_dominated(std::span<const std::size_t> rows) {
    const auto never_loses = [&](std::size_t to, std::size_t candidate) {
        return std::all_of(rows.begin(), rows.end(),
                           [&](std::size_t r) { return matrix_.loss_of(r, candidate) <= matrix_.loss_of(r, to); });
    };
    for (std::size_t c = 0; c < matrix_.candidates.size(); ++c) {
        // Of candidates that never differ the first stays.
        const bool dominated =
            std::any_of(active_.begin(), active_.end(), [&](std::size_t other) { return never_loses(c, other); });
        if (dominated) continue;
        std::erase_if(active_, [&](std::size_t other) { return never_loses(other, c); });
        active_.push_back(c);
    }
}

Loss Splitter::leaf_loss(std::span<const std::size_t> rows) const {
    std::fill(total_.begin(), total_.end(), Loss{0});
    for (const std::size_t r : rows)
        for (std::size_t c = 0; c < active_.size(); ++c) total_[c] += losses(r)[c];
    return *std::min_element(total_.begin(), total_.end());
}

Loss Splitter::ideal_loss(std::span<const std::size_t> rows) const {
    Loss sum = 0;
    for (const std::size_t r : rows) sum += *std::min_element(losses(r), losses(r) + active_.size());
    return sum;
}

namespace {

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

template <class Visit>
void Splitter::visit(std::span<const std::size_t> rows, Visit&& visit) const {
    if (rows.size() < 2 * least_rows_) return;
    static_cast<void>(leaf_loss(rows));  // leaves the sums in total_
    std::vector<std::size_t> sorted(rows.begin(), rows.end());
    for (std::size_t column = 0; column < matrix_.columns.size(); ++column)
        if (matrix_.columns[column].categories == 0)
            visit_number(column, sorted, visit);
        else
            visit_category(column, rows, visit);
}

template <class Visit>
void Splitter::visit_number(std::size_t column, std::vector<std::size_t>& rows, Visit&& visit) const {
    const auto value = [&](std::size_t at) { return matrix_.value(rows[at], column); };
    std::sort(rows.begin(), rows.end(),
              [&](std::size_t a, std::size_t b) { return matrix_.value(a, column) < matrix_.value(b, column); });
    std::fill(yes_.begin(), yes_.end(), Loss{0});
    for (std::size_t i = 0; i + least_rows_ < rows.size(); ++i) {
        const Loss* row = losses(rows[i]);
        for (std::size_t c = 0; c < active_.size(); ++c) yes_[c] += row[c];
        if (i + 1 < least_rows_ || value(i) == value(i + 1)) continue;
        visit(Split{{column, false, value(i)}, value(i + 1), parted_loss(yes_, total_)});
    }
}

template <class Visit>
void Splitter::visit_category(std::size_t column, std::span<const std::size_t> rows, Visit&& visit) const {
    for (int category = 0; category < matrix_.columns[column].categories; ++category) {
        std::fill(yes_.begin(), yes_.end(), Loss{0});
        std::size_t count = 0;
        for (const std::size_t r : rows) {
            if (matrix_.value(r, column) != category) continue;
            ++count;
            for (std::size_t c = 0; c < active_.size(); ++c) yes_[c] += losses(r)[c];
        }
        if (count < least_rows_ || rows.size() - count < least_rows_) continue;
        visit(Split{{column, true, static_cast<double>(category)}, 0, parted_loss(yes_, total_)});
    }
}

std::vector<Split> Splitter::all(std::span<const std::size_t> rows) const {
    std::vector<Split> splits;
    visit(rows, [&](const Split& split) { splits.push_back(split); });
    return splits;
}

Loss Splitter::best_loss(std::span<const std::size_t> rows) const {
    Loss best = leaf_loss(rows);
    visit(rows, [&](const Split& split) { best = std::min(best, split.loss); });
    return best;
}

}  // namespace espalier::select
