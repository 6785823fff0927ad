#pragma once

#include <string>

#include "espalier/explanation.hpp"
#include "kernels/core/feature.hpp"
#include "kernels/dispatch/dispatch.hpp"

namespace espalier {

namespace detail {

/// The sentence of `Explanation::reason`, from everything else in it.
std::string summary(const Explanation& explanation);

template <class P>
void describe_leaf(Explanation& explanation, const Tables<P>& tables, const P& problem, const DeviceInfo& device,
                   const Decision<P>& decision, bool deterministic) {
    const Selector<P>& tree = *decision.tree;
    const Leaf<P>& leaf = *decision.leaf;
    explanation.tree = tree.device_key == device.key ? Explanation::Tree::exact : Explanation::Tree::related;
    explanation.tree_device = tree.device_key;
    explanation.difference = difference(traits_of(device), tree.device);
    explanation.tree_data = tree.data_sha256;
    explanation.leaf = leaf.id;
    explanation.other_leaf = decision.other_leaf;
    explanation.path = leaf.path;
    explanation.problems = leaf.problems;
    explanation.margin = leaf.margin;
    explanation.regret = leaf.regret;
    explanation.regret_low = leaf.regret_lo;
    explanation.regret_high = leaf.regret_hi;
    for (const Choice<P>& choice : leaf.ranking) {
        const Registered<P>& entry = tables.registry[static_cast<std::size_t>(choice.variant)];
        std::string infeasible = supports(entry, problem, choice.configuration, device).reason;
        if (infeasible.empty() && deterministic && !entry.deterministic())
            infeasible = "equal calls may differ: " + std::string(entry.variant.nondeterminism);
        explanation.ranking.push_back(
            {std::string(entry.variant.name), choice.configuration.text(), choice.slowdown, std::move(infeasible)});
    }
}

}  // namespace detail

/// What `decide` decides with the same arguments, in words and numbers.
template <class P>
Result<Explanation> explain(const Tables<P>& tables, const P& problem, const DeviceInfo& device,
                            const ForcedVariant* forced, bool deterministic = false) {
    const auto decision = decide(tables, problem, device, forced, deterministic);
    if (!decision) return decision.error();
    Explanation explanation;
    explanation.family = tables.family;
    explanation.problem = problem_key(problem, true);
    explanation.device = device.key;
    explanation.variant = decision.value().entry->variant.name;
    explanation.configuration = decision.value().configuration.text();
    explanation.nondeterminism = decision.value().entry->variant.nondeterminism;
    if (forced) explanation.forced_by = forced->origin;
    if (decision.value().tree)
        detail::describe_leaf(explanation, tables, problem, device, decision.value(), deterministic);
    explanation.reason = detail::summary(explanation);
    return explanation;
}

/// The same with what `Options::variant` or else ESPALIER_FORCE_VARIANT forces.
template <class P>
Result<Explanation> explain(const P& problem, const DeviceInfo& device, const Options& options) {
    const Tables<P> all = tables<P>();
    return with_forced_variant(all.family, options.variant, [&](const ForcedVariant* forced) {
        return explain(all, problem, device, forced, options.deterministic);
    });
}

}  // namespace espalier
