#include "harness/learn/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "harness/learn/emit.hpp"
#include "harness/learn/ranking.hpp"
#include "harness/learn/rounded.hpp"
#include "harness/text/counted.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"

namespace espalier::bench::learn {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::string name_of(const Trained& trained, std::size_t candidate) {
    const auto [variant, configuration] = trained.evidence.matrix.candidates[candidate];
    const VariantInfo& info = trained.family->variants()[variant];
    return std::string(info.name) + " " + info.configurations[configuration].text();
}

double log_of(const Matrix& matrix, std::size_t problem, std::size_t candidate) {
    const CellState state = matrix.state(problem, candidate);
    const bool unknown = state == CellState::missing || state == CellState::guessed;
    return unknown ? kUnknown : matrix.log_slowdown(problem, candidate);
}

/// A tree as its file describes it, by the names of today's registry. Throws what the JSON library throws, or
/// `BadData`, where it cannot be one.
class WrittenTree {
public:
    WrittenTree(std::string_view text, const Trained& trained, const DeviceInfo& device)
        : json_(parse_checked(text)), nodes_(json_.at("nodes")), trained_(trained), device_(device) {
        if (json_.at("family") != trained.family->name()) throw BadData("a tree of another family");
    }

    void decide(std::size_t problem, Decisions& decisions) const {
        const nlohmann::json* node = &nodes_.at(0);
        std::string region;
        for (std::size_t steps = 0; node->contains("left"); ++steps) {
            if (steps > nodes_.size()) throw BadData("a tree with a cycle");
            const auto [holds, condition] = ask(*node, problem);
            region += (region.empty() ? "" : " and ") + condition;
            node = &nodes_.at(node->at(holds ? "left" : "right").get<std::size_t>());
        }
        decisions.regions.push_back(region);
        for (const auto& choice : node->at("ranking"))
            if (take(choice.at("variant"), choice.at("configuration"), problem, decisions)) return;
        throw BadData("a leaf without a choice");
    }

private:
    std::pair<bool, std::string> ask(const nlohmann::json& node, std::size_t problem) const {
        const Matrix& matrix = trained_.evidence.matrix;
        const std::string name = node.at("feature");
        const auto at_column = std::ranges::find(matrix.columns, name, &Column::name);
        if (at_column == matrix.columns.end()) throw BadData("a tree that asks about " + name);
        const auto column = static_cast<std::size_t>(at_column - matrix.columns.begin());
        const double value = matrix.value(problem, column);
        if (!node.contains("categories")) {
            const double threshold = node.at("threshold");
            const bool holds = value <= threshold;
            return {holds, fmt::format("{} {} {}", name, holds ? "<=" : ">", threshold)};
        }
        if (at_column->categories == 0) throw BadData("a tree that asks for a category of " + name);
        const auto categories = trained_.family->features()[column].categories;
        const std::string category = node.at("categories").at(0);
        const auto at = std::ranges::find(categories, category);
        if (at == categories.end()) throw BadData("a tree that asks for an unknown category");
        const bool holds = value == static_cast<double>(at - categories.begin());
        return {holds, fmt::format("{} {} {}", name, holds ? "==" : "!=", category)};
    }

    /// Whether the choice would run the problem; then it is the decision.
    bool take(const std::string& name, const std::string& configuration, std::size_t problem,
              Decisions& decisions) const {
        const std::size_t variant = trained_.family->find(name);
        if (variant == Family::npos) return false;
        const VariantInfo& info = trained_.family->variants()[variant];
        const auto setting = std::ranges::find(info.configurations, configuration, &Configuration::text);
        const Matrix& matrix = trained_.evidence.matrix;
        if (setting == info.configurations.end() ||
            !trained_.family->supports(variant, matrix.problems[problem], *setting, device_))
            return false;
        decisions.choices.push_back(name + " " + configuration);
        const Candidate candidate{variant, static_cast<std::size_t>(setting - info.configurations.begin())};
        const auto at = std::ranges::find(matrix.candidates, candidate);
        const auto index = static_cast<std::size_t>(at - matrix.candidates.begin());
        decisions.logs.push_back(at == matrix.candidates.end() ? kUnknown : log_of(matrix, problem, index));
        return true;
    }

    nlohmann::json json_;
    const nlohmann::json& nodes_;
    const Trained& trained_;
    const DeviceInfo& device_;
};

double mean_exp(double sum, std::size_t count) { return count ? std::exp(sum / static_cast<double>(count)) : 1; }

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
        decisions.choices.push_back(name_of(trained, choice));
        decisions.regions.push_back(path_to_leaf(*trained.family, trained.tree, leaf));
        decisions.logs.push_back(log_of(matrix, p, choice));
    }
    return decisions;
}

std::optional<Decisions> decisions_of(std::string_view tree_json, const Trained& trained, const DeviceInfo& device) {
    try {
        const WrittenTree tree(tree_json, trained, device);
        Decisions decisions;
        for (std::size_t p = 0; p < trained.evidence.matrix.rows(); ++p) tree.decide(p, decisions);
        return decisions;
    } catch (const BadData&) {
        return std::nullopt;
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

DecisionDiff compare(const Decisions& before, const Decisions& after) {
    DecisionDiff diff;
    std::map<std::tuple<std::string, std::string, std::string>, Change> changes;
    double sum_before = 0, sum_after = 0;
    std::size_t both = 0;
    diff.problems = after.choices.size();
    for (std::size_t p = 0; p < after.choices.size(); ++p) {
        if (!std::isnan(before.logs[p]) && !std::isnan(after.logs[p])) {
            sum_before += before.logs[p], sum_after += after.logs[p];
            ++both;
        }
        if (before.choices[p] == after.choices[p]) continue;
        Change& change = changes[{before.regions[p], before.choices[p], after.choices[p]}];
        change.region = before.regions[p], change.from = before.choices[p], change.to = after.choices[p];
        change.problems.push_back(p);
    }
    diff.before = mean_exp(sum_before, both), diff.after = mean_exp(sum_after, both);
    for (auto& [key, change] : changes) {
        double from = 0, to = 0;
        std::size_t known = 0;
        for (const std::size_t p : change.problems) {
            if (std::isnan(before.logs[p]) || std::isnan(after.logs[p])) continue;
            from += before.logs[p], to += after.logs[p];
            ++known;
        }
        change.known = known > 0;
        change.before = mean_exp(from, known), change.after = mean_exp(to, known);
        diff.changes.push_back(std::move(change));
    }
    std::ranges::stable_sort(diff.changes, [](const Change& a, const Change& b) { return weight(a) > weight(b); });
    return diff;
}

std::optional<DecisionDiff> compare(std::string_view earlier_tree_json, const Trained& now, const DeviceInfo& device) {
    const auto before = decisions_of(earlier_tree_json, now, device);
    if (!before) return std::nullopt;
    DecisionDiff diff = compare(*before, decisions_of(now));
    const bool same = parse_checked(earlier_tree_json).value("data_sha256", "") == now.evidence.data_sha256;
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
