#pragma once

#include <algorithm>
#include <string>

#include "espalier/explanation.hpp"
#include "espalier/plan.hpp"
#include "kernels/core/feature.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/loaded_trees.hpp"
#include "kernels/dispatch/predict.hpp"
#include "kernels/dispatch/tree_path.hpp"
#include "kernels/dispatch/wisdom.hpp"

namespace espalier {

namespace detail {

/// The sentence of `Explanation::reason`, from everything else in it.
std::string summary(const Explanation& explanation);

template <class P>
Explanation::RankedChoice ranked(const Registered<P>& entry, const Configuration& configuration, double slowdown,
                                 const P& problem, const DeviceInfo& device, const Demands& demands) {
    Configuration runs = configuration;
    std::string infeasible = resolve(entry, problem, runs, device).reason;
    if (infeasible.empty()) infeasible = unmet(entry, demands);
    std::string same_as = infeasible.empty() && runs != configuration ? runs.text() : "";
    return {std::string(entry.variant.name), configuration.text(), slowdown, std::move(infeasible), std::move(same_as)};
}

template <class P>
void describe_leaf(Explanation& explanation, const Tables<P>& tables, const P& problem, const DeviceInfo& device,
                   const DispatchResult<P>& decision, const Demands& demands) {
    const Selector<P>& tree = *decision.tree;
    const Leaf<P>& leaf = *decision.leaf;
    explanation.tree = tree.device_key == device.key ? Explanation::Tree::exact : Explanation::Tree::related;
    explanation.tree_device = tree.device_key;
    explanation.tree_file = tree.file;
    explanation.difference = difference(traits_of(device), tree.device);
    explanation.tree_data = tree.data_sha256;
    explanation.leaf = leaf.id;
    explanation.other_leaf = decision.other_leaf;
    explanation.path = path_to(tree, leaf);
    explanation.problems = leaf.problems;
    explanation.margin = leaf.margin;
    explanation.regret = leaf.regret;
    explanation.regret_low = leaf.regret_lo;
    explanation.regret_high = leaf.regret_hi;
    for (const Choice<P>& choice : leaf.ranking)
        explanation.ranking.push_back(ranked(tables.registry[static_cast<std::size_t>(choice.variant)],
                                             choice.configuration, choice.slowdown, problem, device, demands));
}

/// Beside what the tree says, the first choices of the forest, as far as the one that runs and a few more.
template <class P>
void describe_forest(Explanation& explanation, const P& problem, const DeviceInfo& device,
                     const DispatchResult<P>& decision, const Demands& demands) {
    constexpr std::size_t kShown = 5;
    for (const auto& choice : decision.forest->predict(problem)) {
        explanation.predicted.push_back(
            ranked(*choice.variant, choice.configuration, choice.slowdown, problem, device, demands));
        if (explanation.predicted_slowdown == 0 && explanation.predicted.back().infeasible.empty())
            explanation.predicted_slowdown = choice.slowdown;
        if (explanation.predicted_slowdown > 0 && explanation.predicted.size() >= kShown) return;
    }
}

/// Beside what was learned, what the tree says.
template <class P>
void describe_wisdom(Explanation& explanation, const Tables<P>& tables, const P& problem, const DeviceInfo& device,
                     DispatchResult<P> decision, const Demands& demands) {
    explanation.measured_at = decision.wisdom->date;
    explanation.measured_speedup = decision.wisdom->speedup;
    explanation.measured_choices = decision.wisdom->choices;
    decision.tree = SimilarTrees<P>(tables.selectors, device).next();
    if (!decision.tree) return;
    decision.leaf = &decision.tree->leaf_of(problem);
    describe_leaf(explanation, tables, problem, device, decision, demands);
}

}  // namespace detail

/// A dispatch result in words and numbers.
template <class P>
Explanation explanation_of(const DispatchResult<P>& decision, const Tables<P>& tables, const P& problem,
                           const DeviceInfo& device, const Demands& demands) {
    const Variant<P>& variant = decision.entry->variant;
    Explanation explanation;
    explanation.family = tables.family;
    explanation.problem = problem_key(problem, true);
    explanation.device = device.key;
    explanation.variant = variant.name;
    explanation.configuration = decision.configuration.text();
    if (device.kind == DeviceKind::cpu) {
        explanation.threads = device.threads;
        explanation.all_threads = std::max(device.threads, device.all_threads);
    }
    explanation.workspace_bytes = workspace_bytes(decision, problem, device);
    explanation.nondeterminism = variant.nondeterminism;
    explanation.forced_by = decision.forced_by;
    explanation.ignored = ignored_selectors();
    for (const std::string& line : ignored_wisdom(explanation.family, explanation.problem, explanation.device))
        explanation.ignored.append(explanation.ignored.empty() ? "" : "\n").append(line);
    if (decision.wisdom)
        detail::describe_wisdom(explanation, tables, problem, device, decision, demands);
    else if (decision.tree)
        detail::describe_leaf(explanation, tables, problem, device, decision, demands);
    if (decision.forest) detail::describe_forest(explanation, problem, device, decision, demands);
    if (const std::string lines = ignored_forests(tables.family); !lines.empty())
        explanation.ignored.append(explanation.ignored.empty() ? "" : "\n").append(lines);
    explanation.reason = detail::summary(explanation);
    return explanation;
}

/// Explains the decision of `decide` with the same arguments, or of `predict`.
template <class P>
Result<Explanation> explain(const Tables<P>& tables, const P& problem, const DeviceInfo& device,
                            const ForcedVariant* forced, const Demands& demands = {}, Effort effort = Effort::tree) {
    auto decision = decide(tables, problem, device, forced, demands);
    if (!decision) return decision.error();
    if (effort == Effort::predict) predict(decision.value(), tables, problem, device, demands);
    return explanation_of(decision.value(), tables, problem, device, demands);
}

}  // namespace espalier
