#include "harness/select/grow.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "harness/select/splits.hpp"
#include "harness/select/threshold.hpp"

namespace espalier::select {
namespace {

using Rows = std::vector<std::size_t>;

class Grower {
public:
    Grower(const Matrix& matrix, std::span<const std::size_t> rows, const GrowOptions& options)
        : matrix_(matrix), options_(options), splitter_(matrix, rows, options.least_rows) {}

    GrownTree grow(std::span<const std::size_t> rows) {
        add(Rows(rows.begin(), rows.end()), 0);
        return std::move(tree_);
    }

private:
    int add(Rows rows, int depth) {
        const auto index = tree_.size();
        tree_.push_back({.leaf_loss = splitter_.leaf_loss(rows), .rows = rows});
        const auto split = depth < options_.deepest ? choose(rows) : std::nullopt;
        if (!split) return static_cast<int>(index);
        Rows yes, no;
        part(rows, *split, yes, no);
        const int yes_index = add(std::move(yes), depth + 1);
        const int no_index = add(std::move(no), depth + 1);
        GrownNode& node = tree_[index];
        node.yes = yes_index, node.no = no_index;
        node.test = split->test;
        if (!node.test.category) node.test.value = readable_threshold(split->test.value, split->next);
        return static_cast<int>(index);
    }

    void part(const Rows& rows, const Split& split, Rows& yes, Rows& no) const {
        yes.clear(), no.clear();
        for (const std::size_t r : rows) (split.holds(matrix_.row(r)) ? yes : no).push_back(r);
    }

    /// The best split of `rows`, or none if not even two levels of them lower the loss.
    std::optional<Split> choose(const Rows& rows) const {
        const Loss leaf = splitter_.leaf_loss(rows), ideal = splitter_.ideal_loss(rows);
        if (leaf - ideal <= options_.least_gain) return std::nullopt;
        std::vector<Split> splits = splitter_.all(rows);
        const auto by_loss = [&](const Split& a, const Split& b) { return order(a) < order(b); };
        std::sort(splits.begin(), splits.end(), by_loss);
        const std::size_t affordable = std::max<std::size_t>(1, options_.lookahead_work / (splitter_.work(rows) + 1));
        if (splits.size() > affordable) splits.resize(affordable);

        std::optional<Split> best;
        Loss best_ahead = leaf;
        for (const Split& split : splits) {
            const Loss ahead = loss_ahead(rows, split, best_ahead);
            if (ahead < best_ahead) best = split, best_ahead = ahead;
            if (best_ahead == ideal) break;  // the rest cost more by themselves and no less ahead
        }
        return best;
    }

    using Order = std::tuple<Loss, bool, std::size_t, double>;
    Order order(const Split& split) const {
        return {split.loss, !matrix_.columns[split.test.column].derived, split.test.column, split.test.value};
    }

    /// The loss after `split` and the best further split of either side; gives up once it reaches `enough`.
    Loss loss_ahead(const Rows& rows, const Split& split, Loss enough) const {
        part(rows, split, yes_, no_);
        const Loss ideal_no = splitter_.ideal_loss(no_);
        if (splitter_.ideal_loss(yes_) + ideal_no >= enough) return enough;
        const Loss yes = splitter_.best_loss(yes_);
        if (yes + ideal_no >= enough) return enough;
        return yes + splitter_.best_loss(no_);
    }

    const Matrix& matrix_;
    const GrowOptions& options_;
    Splitter splitter_;
    GrownTree tree_;
    mutable Rows yes_, no_;  // loss_ahead's own
};

}  // namespace

GrownTree grow(const Matrix& matrix, std::span<const std::size_t> rows, const GrowOptions& options) {
    return Grower(matrix, rows, options).grow(rows);
}

}  // namespace espalier::select
