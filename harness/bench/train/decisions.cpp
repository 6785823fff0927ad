#include "harness/bench/train/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/base/text/counted.hpp"
#include "harness/bench/emit/tree_text.hpp"
#include "harness/bench/learn/in_family.hpp"
#include "harness/bench/learn/ranking.hpp"
#include "harness/bench/learn/regret.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "kernels/dispatch/tree_path.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::learn {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double log_of(const Matrix& matrix, std::size_t problem, std::size_t candidate) {
    const CellState state = matrix.state(problem, candidate);
    const bool unknown = state == CellState::missing || state == CellState::imputed;
    return unknown ? kUnknown : matrix.log_slowdown(problem, candidate);
}

/// A tree as its file describes it, by the names of today's registry. Throws `BadData` where it cannot be one.
class WrittenTree {
public:
    WrittenTree(std::string_view text, const Trained& trained, const DeviceInfo& device)
        : file_(read_tree(text)), trained_(trained), device_(device) {
        if (file_.family != trained.family->name()) throw BadData("a tree of another family");
        for (const TreeFile::Node& node : file_.nodes) {
            tree_.nodes.push_back(node.feature.empty() ? TreeNode::leaf(static_cast<std::uint16_t>(rankings_.size()))
                                                       : test_of(node));
            if (node.feature.empty()) rankings_.push_back(&node.ranking);
        }
    }

    void decide(std::size_t problem, Decisions& decisions) const {
        const std::size_t leaf = tree_.leaf_of(trained_.evidence.matrix.row(problem));
        decisions.regions.push_back(path_to_leaf(*trained_.family, tree_, leaf));
        for (const TreeFile::Choice& choice : *rankings_[leaf])
            if (take(choice, problem, decisions)) return;
        throw BadData("a leaf without a choice");
    }

private:
    [[nodiscard]] TreeNode test_of(const TreeFile::Node& node) const {
        const auto& columns = trained_.evidence.matrix.columns;
        const auto at = std::ranges::find(columns, node.feature, &Column::name);
        if (at == columns.end()) throw BadData("a tree that asks about " + node.feature);
        const auto column = static_cast<std::uint16_t>(at - columns.begin());
        const auto no = static_cast<std::uint16_t>(node.right);
        if (node.categories.empty()) return TreeNode::at_most(column, node.threshold, no);
        if (at->categories == 0) throw BadData("a tree that asks for a category of " + node.feature);
        return TreeNode::one_of(column, category_bits(node, trained_.family->features()[column].categories), no);
    }

    /// Whether the choice would run the problem; then it is the decision.
    bool take(const TreeFile::Choice& choice, std::size_t problem, Decisions& decisions) const {
        const std::size_t variant = trained_.family->find(choice.variant);
        if (variant == Family::npos) return false;
        const auto& configurations = trained_.family->variants()[variant].configurations;
        const auto setting = std::ranges::find(configurations, choice.configuration, &Configuration::text);
        const Choice candidate{variant, static_cast<std::size_t>(setting - configurations.begin())};
        const Matrix& matrix = trained_.evidence.matrix;
        if (setting == configurations.end() ||
            !supports(*trained_.family, device_, matrix.problems[problem], candidate))
            return false;
        decisions.choices.push_back(name_of(*trained_.family, candidate));
        const auto at = std::ranges::find(matrix.candidates, candidate);
        const auto index = static_cast<std::size_t>(at - matrix.candidates.begin());
        decisions.logs.push_back(at == matrix.candidates.end() ? kUnknown : log_of(matrix, problem, index));
        return true;
    }

    TreeFile file_;
    Tree tree_;  ///< its nodes; its leaves are the rankings
    std::vector<const std::vector<TreeFile::Choice>*> rankings_;
    const Trained& trained_;
    const DeviceInfo& device_;
};

/// Regrets of the problems that have a time of both choices.
struct Regrets {
    double before = 0, after = 0;  ///< sums of logarithms
    std::size_t known = 0;

    void add(double log_before, double log_after) {
        if (std::isnan(log_before) || std::isnan(log_after)) return;
        before += log_before, after += log_after, ++known;
    }
    [[nodiscard]] double mean(double sum) const { return known ? std::exp(sum / static_cast<double>(known)) : 1; }
};

double weight(const Change& change) {
    return static_cast<double>(change.problems.size()) * std::abs(std::log(change.before / change.after));
}

}  // namespace

Decisions decisions_of(const Trained& trained) {
    const Matrix& matrix = trained.evidence.matrix;
    Decisions decisions;
    for (std::size_t p = 0; p < matrix.rows(); ++p) {
        const std::size_t leaf = trained.tree.leaf_of(matrix.row(p));
        const std::size_t choice = chosen(matrix, p, trained.tree.leaves[leaf].ranking);
        decisions.choices.push_back(name_of(*trained.family, matrix.candidates[choice]));
        decisions.regions.push_back(path_to_leaf(*trained.family, trained.tree, leaf));
        decisions.logs.push_back(log_of(matrix, p, choice));
    }
    return decisions;
}

std::optional<Decisions> decisions_of(std::string_view tree, const Trained& trained, const DeviceInfo& device) {
    try {
        const WrittenTree written(tree, trained, device);
        Decisions decisions;
        for (std::size_t p = 0; p < trained.evidence.matrix.rows(); ++p) written.decide(p, decisions);
        return decisions;
    } catch (const BadData&) {
        return std::nullopt;
    }
}

DecisionDiff compare(const Decisions& before, const Decisions& after) {
    DecisionDiff diff{.problems = after.choices.size()};
    std::map<std::tuple<std::string, std::string, std::string>, std::pair<Change, Regrets>> changes;
    Regrets all;
    for (std::size_t p = 0; p < after.choices.size(); ++p) {
        all.add(before.logs[p], after.logs[p]);
        if (before.choices[p] == after.choices[p]) continue;
        auto& [change, regrets] = changes[{before.regions[p], before.choices[p], after.choices[p]}];
        change.region = before.regions[p], change.from = before.choices[p], change.to = after.choices[p];
        change.problems.push_back(p);
        regrets.add(before.logs[p], after.logs[p]);
    }
    diff.before = all.mean(all.before), diff.after = all.mean(all.after);
    for (auto& [key, entry] : changes) {
        auto& [change, regrets] = entry;
        change.known = regrets.known > 0;
        change.before = regrets.mean(regrets.before), change.after = regrets.mean(regrets.after);
        diff.changes.push_back(std::move(change));
    }
    std::ranges::stable_sort(diff.changes, std::greater{}, weight);
    return diff;
}

std::optional<DecisionDiff> compare(std::string_view earlier_tree, const Trained& now, const DeviceInfo& device) {
    const auto before = decisions_of(earlier_tree, now, device);
    if (!before) return std::nullopt;
    DecisionDiff diff = compare(*before, decisions_of(now));
    const bool same = read_tree(earlier_tree).data_sha256 == now.evidence.data_sha256;
    diff.why = same ? "the same data, learned otherwise" : "other data";
    return diff;
}

std::string describe(const DecisionDiff& diff) {
    if (diff.changes.empty()) return "";
    std::size_t changed = 0;
    for (const Change& change : diff.changes) changed += change.problems.size();
    const std::string why = diff.why.empty() ? "" : " (" + diff.why + ")";
    std::string text = fmt::format("{} of {} problems are decided differently{}; regret {:.3f} -> {:.3f}\n", changed,
                                   diff.problems, why, diff.before, diff.after);
    for (const Change& change : diff.changes) {
        const std::string cost = change.known ? fmt::format("{:.3f} -> {:.3f}", change.before, change.after)
                                              : "no time of the former choice in these results";
        text += fmt::format("  {}: {}, {} -> {}: {}\n", change.region.empty() ? "everywhere" : change.region,
                            counted(change.problems.size(), "problem"), change.from, change.to, cost);
    }
    return text;
}

nlohmann::ordered_json to_json(const DecisionDiff& diff) {
    auto changes = nlohmann::ordered_json::array();
    for (const Change& change : diff.changes) {
        changes.push_back({{"region", change.region},
                           {"problems", change.problems.size()},
                           {"from", change.from},
                           {"to", change.to}});
        if (!change.known) continue;
        changes.back()["regret_before"] = rounded(change.before);
        changes.back()["regret_after"] = rounded(change.after);
    }
    return {{"why", diff.why},
            {"problems", diff.problems},
            {"regret_before", rounded(diff.before)},
            {"regret_after", rounded(diff.after)},
            {"changes", std::move(changes)}};
}

}  // namespace espalier::bench::learn
