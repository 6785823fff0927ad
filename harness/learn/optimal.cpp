#include "harness/learn/optimal.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/learn/splits.hpp"

namespace espalier::bench::learn {
namespace {

using Rows = std::vector<std::size_t>;  // ascending

class OutOfWork {};

/// The best tree of at most so many leaves for some rows: its first split and how the leaves are shared.
struct Best {
    Loss loss = 0;
    std::optional<Split> split{};  ///< none: a leaf
    std::size_t yes_leaves = 0, no_leaves = 0;
};
using Table = std::vector<Best>;  // [leaves - 1]

class Search {
public:
    Search(const Matrix& matrix, const OptimalOptions& options) : matrix_(matrix), work_left_(options.most_work) {}

    const Table& solve(const Splitter& splitter, const Rows& rows, int depth, std::size_t most_leaves) {
        const std::pair key{depth, rows};
        const auto known = tables_.find(key);
        if (known != tables_.end() && known->second.size() >= most_leaves) return known->second;
        Table table = solve_anew(splitter, rows, depth, most_leaves);
        return tables_[key] = std::move(table);
    }

    int build(const Splitter& splitter, const Rows& rows, int depth, std::size_t leaves, GrownTree& tree) {
        const auto index = tree.size();
        tree.push_back({.leaf_loss = splitter.leaf_loss(rows), .rows = rows});
        const Best best = solve(splitter, rows, depth, leaves)[leaves - 1];
        if (!best.split) return static_cast<int>(index);
        const auto [yes, no] = part(rows, *best.split);
        const int yes_index = build(splitter, yes, depth - 1, best.yes_leaves, tree);
        const int no_index = build(splitter, no, depth - 1, best.no_leaves, tree);
        tree[index].test = best.split->readable();
        tree[index].yes = yes_index, tree[index].no = no_index;
        return static_cast<int>(index);
    }

private:
    std::pair<Rows, Rows> part(const Rows& rows, const Split& split) const {
        std::pair<Rows, Rows> sides;
        for (const std::size_t r : rows) (split.holds(matrix_.row(r)) ? sides.first : sides.second).push_back(r);
        return sides;
    }

    Table solve_anew(const Splitter& outer, const Rows& rows, int depth, std::size_t most_leaves) {
        const Loss leaf = outer.leaf_loss(rows);
        Table table(most_leaves, {.loss = leaf});
        if (depth == 0 || most_leaves < 2 || leaf == outer.ideal_loss(rows)) return table;
        const Splitter splitter = outer.narrowed(rows);
        if (depth == 1)
            improve_once(splitter, rows, table);
        else if (depth == 2)
            improve_twice(splitter, rows, table);
        else
            improve_deeply(splitter, rows, depth, table);
        return table;
    }

    void improve_once(const Splitter& splitter, const Rows& rows, Table& table) {
        spend(splitter.work(rows));
        const auto splits = splitter.all(rows);
        if (!splits.empty()) offer(table, splits.front().loss, splits.front(), 1, 1);
    }

    void improve_twice(const Splitter& splitter, const Rows& rows, Table& table) {
        const auto splits = splitter.all_deep(rows);
        spend(splitter.work(rows) * (splits.size() + 1));
        for (const DeepSplit& d : splits) {
            offer(table, d.yes_leaf + d.no_leaf, d.split, 1, 1);
            offer(table, d.yes_split + d.no_leaf, d.split, 2, 1);
            offer(table, d.yes_leaf + d.no_split, d.split, 1, 2);
            offer(table, d.yes_split + d.no_split, d.split, 2, 2);
        }
    }

    void improve_deeply(const Splitter& splitter, const Rows& rows, int depth, Table& table) {
        spend(splitter.work(rows));
        // More leaves than the depth below allows change nothing.
        const std::size_t fit = std::min(table.size() - 1, std::size_t{1} << (depth - 1));
        std::set<Rows> seen;  // tests on different columns often part the rows alike
        for (const Split& split : splitter.all(rows)) {
            const auto [yes, no] = part(rows, split);
            if (!seen.insert(yes).second) continue;
            const Table bound_no = bounds(splitter, no, fit);
            if (!promising(table, bounds(splitter, yes, fit), bound_no)) continue;
            const Table best_yes = solve(splitter, yes, depth - 1, fit);
            if (!promising(table, best_yes, bound_no)) continue;
            const Table& best_no = solve(splitter, no, depth - 1, fit);
            for (std::size_t y = 1; y <= fit; ++y)
                for (std::size_t n = 1; n <= fit; ++n)
                    offer(table, best_yes[y - 1].loss + best_no[n - 1].loss, split, y, n);
        }
    }

    /// What no tree of at most 1, 2, ... leaves can beat.
    static Table bounds(const Splitter& splitter, const Rows& rows, std::size_t leaves) {
        Table table(leaves, {.loss = splitter.ideal_loss(rows)});
        table[0].loss = splitter.leaf_loss(rows);
        return table;
    }

    /// Whether sides with these losses at best would improve any size of tree.
    static bool promising(const Table& table, const Table& yes, const Table& no) {
        for (std::size_t y = 1; y <= yes.size(); ++y)
            for (std::size_t n = 1; n <= no.size() && y + n <= table.size(); ++n)
                if (yes[y - 1].loss + no[n - 1].loss < table[y + n - 1].loss) return true;
        return false;
    }

    static void offer(Table& table, Loss loss, const Split& split, std::size_t yes_leaves, std::size_t no_leaves) {
        for (std::size_t l = yes_leaves + no_leaves; l <= table.size() && loss < table[l - 1].loss; ++l)
            table[l - 1] = {loss, split, yes_leaves, no_leaves};
    }

    void spend(std::size_t work) {
        if (work > work_left_) throw OutOfWork();
        work_left_ -= work;
    }

    const Matrix& matrix_;
    std::size_t work_left_;
    std::map<std::pair<int, Rows>, Table> tables_;
};

}  // namespace

std::optional<std::vector<GrownTree>> optimal_trees(const Matrix& matrix, std::span<const std::size_t> rows,
                                                    const OptimalOptions& options) {
    const auto most_leaves =
        std::min(static_cast<std::size_t>(options.most_leaves), std::size_t{1} << std::min(options.deepest, 20));
    Rows sorted(rows.begin(), rows.end());
    std::sort(sorted.begin(), sorted.end());
    const Splitter splitter(matrix, rows, options.split);
    Search search(matrix, options);
    try {
        search.solve(splitter, sorted, options.deepest, most_leaves);
        std::vector<GrownTree> trees(most_leaves);
        for (std::size_t leaves = 1; leaves <= most_leaves; ++leaves)
            search.build(splitter, sorted, options.deepest, leaves, trees[leaves - 1]);
        return trees;
    } catch (const OutOfWork&) {
        return std::nullopt;
    }
}

}  // namespace espalier::bench::learn
