#include "harness/select/optimal.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "harness/select/splits.hpp"
#include "harness/select/threshold.hpp"

namespace espalier::select {
namespace {

using Rows = std::vector<std::size_t>;  // ascending

class OutOfWork {};

/// The best trees of at most 1, 2, ... leaves for some rows.
struct Table {
    struct Entry {
        Loss loss = 0;
        std::optional<Split> split;  ///< none: a leaf
        std::size_t yes_leaves = 0, no_leaves = 0;
    };
    std::vector<Entry> at_most;  ///< [leaves - 1]
};

class Search {
public:
    Search(const Matrix& matrix, std::span<const std::size_t> rows, const OptimalOptions& options)
        : matrix_(matrix), splitter_(matrix, rows, options.least_rows), work_left_(options.most_work) {}

    GrownTree find(Rows rows, int deepest, std::size_t most_leaves) {
        std::sort(rows.begin(), rows.end());
        build(rows, deepest, most_leaves);
        return std::move(tree_);
    }

private:
    const Table& solve(const Rows& rows, int depth, std::size_t most_leaves) {
        const auto known = tables_.find({depth, rows});
        if (known != tables_.end() && known->second.at_most.size() >= most_leaves) return known->second;
        Table table = solve_anew(rows, depth, most_leaves);
        return tables_[{depth, rows}] = std::move(table);
    }

    Table solve_anew(const Rows& rows, int depth, std::size_t most_leaves) {
        const Loss leaf = splitter_.leaf_loss(rows);
        Table table{std::vector<Table::Entry>(most_leaves, {.loss = leaf})};
        if (depth == 0 || most_leaves < 2 || leaf == splitter_.ideal_loss(rows)) return table;
        spend(splitter_.work(rows));
        std::vector<Split> splits = splitter_.all(rows);
        std::stable_sort(splits.begin(), splits.end(), [](const Split& a, const Split& b) { return a.loss < b.loss; });
        std::set<Rows> seen;  // tests on different columns often part the rows alike
        for (const Split& split : splits) {
            if (depth == 1) {
                if (split.loss < table.at_most[1].loss)
                    std::fill(table.at_most.begin() + 1, table.at_most.end(), Table::Entry{split.loss, split, 1, 1});
                break;
            }
            Rows yes, no;
            for (const std::size_t r : rows) (split.holds(matrix_.row(r)) ? yes : no).push_back(r);
            if (seen.insert(yes).second) combine(table, split, yes, no, depth - 1);
        }
        return table;
    }

    /// Improves the table by trees that begin with `split`.
    void combine(Table& table, const Split& split, const Rows& yes, const Rows& no, int depth) {
        const std::size_t most = table.at_most.size() - 1;  // leaves of one side
        const Loss bound = splitter_.ideal_loss(yes) + splitter_.ideal_loss(no);
        if (bound >= table.at_most[1].loss) return;
        const Table yes_table = solve(yes, depth, most);
        const Table& no_table = solve(no, depth, most);
        for (std::size_t y = 1; y <= most; ++y)
            for (std::size_t n = 1; y + n <= most + 1; ++n) {
                const Loss loss = yes_table.at_most[y - 1].loss + no_table.at_most[n - 1].loss;
                for (std::size_t leaves = y + n; leaves <= most + 1; ++leaves)
                    if (loss < table.at_most[leaves - 1].loss) table.at_most[leaves - 1] = {loss, split, y, n};
            }
    }

    int build(const Rows& rows, int depth, std::size_t leaves) {
        const auto index = tree_.size();
        tree_.push_back({.leaf_loss = splitter_.leaf_loss(rows), .rows = rows});
        const Table::Entry entry = solve(rows, depth, leaves).at_most[leaves - 1];
        if (!entry.split) return static_cast<int>(index);
        Rows yes, no;
        for (const std::size_t r : rows) (entry.split->holds(matrix_.row(r)) ? yes : no).push_back(r);
        const int yes_index = build(yes, depth - 1, entry.yes_leaves);
        const int no_index = build(no, depth - 1, entry.no_leaves);
        GrownNode& node = tree_[index];
        node.yes = yes_index, node.no = no_index;
        node.test = entry.split->test;
        if (!node.test.category) node.test.value = readable_threshold(entry.split->test.value, entry.split->next);
        return static_cast<int>(index);
    }

    void spend(std::size_t work) {
        if (work > work_left_) throw OutOfWork();
        work_left_ -= work;
    }

    const Matrix& matrix_;
    Splitter splitter_;
    std::size_t work_left_;
    std::map<std::pair<int, Rows>, Table> tables_;
    GrownTree tree_;
};

}  // namespace

std::optional<GrownTree> optimal_tree(const Matrix& matrix, std::span<const std::size_t> rows,
                                      const OptimalOptions& options) {
    const auto most_leaves = std::min<std::size_t>(static_cast<std::size_t>(options.most_leaves),
                                                   std::size_t{1} << std::min(options.deepest, 20));
    try {
        return Search(matrix, rows, options).find({rows.begin(), rows.end()}, options.deepest, most_leaves);
    } catch (const OutOfWork&) {
        return std::nullopt;
    }
}

}  // namespace espalier::select
