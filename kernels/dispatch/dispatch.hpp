#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "espalier/error.hpp"
#include "kernels/core/printable.hpp"
#include "kernels/core/similar_name.hpp"
#include "kernels/dispatch/forced_variant.hpp"
#include "kernels/dispatch/nearest_tree.hpp"
#include "kernels/dispatch/similar_trees.hpp"
#include "kernels/dispatch/tables.hpp"
#include "kernels/dispatch/wisdom_table.hpp"

namespace espalier {

template <class P>
class LoadedForest;

/// The variant that runs for one problem, and the tree that said so. Holds no memory of its own.
template <class P>
struct DispatchResult {
    DispatchResult() = default;
    DispatchResult(const Registered<P>* e, const Configuration& c, const Selector<P>* t, const Leaf<P>* l)
        : entry(e), configuration(c), tree(t), leaf(l) {}

    const Registered<P>* entry = nullptr;
    Configuration configuration;
    const Selector<P>* tree = nullptr;  ///< null if there is no tree for this kind of device
    const Leaf<P>* leaf = nullptr;      ///< null without a tree
    std::string_view forced_by{};       ///< what asked for it instead of the tree; empty if nothing did
    bool other_leaf = false;  ///< the problem belongs to another leaf of the tree, which has nothing that runs
    const WisdomEntry* wisdom = nullptr;      ///< that said so instead of a tree; null if none did
    const LoadedForest<P>* forest = nullptr;  ///< that said so instead of its tree; null if none did
};

/// Bytes of memory that the variant needs beside its buffers.
template <class P>
std::size_t workspace_bytes(const DispatchResult<P>& decision, const P& problem, const DeviceInfo& device) {
    const auto bytes = decision.entry->variant.workspace;
    return bytes ? bytes(problem, decision.configuration, device) : 0;
}

namespace detail {

template <class P>
const Registered<P>* baseline(std::span<const Registered<P>> registry, DeviceKind kind) {
    for (const Registered<P>& entry : registry)
        if (entry.kind == kind && entry.linked() && entry.variant.role == Role::baseline) return &entry;
    return nullptr;
}

inline Configuration default_configuration(const ParameterSpace& space) {
    Configuration first;
    for (const Axis& axis : space.axes()) first.push_back({axis.name, axis.values.front()});
    return first;
}

template <class P>
std::string choices_for(const Tables<P>& tables, DeviceKind kind) {
    std::string list;
    for (const Registered<P>& entry : tables.registry)
        if (entry.kind == kind && entry.linked()) list.append(list.empty() ? "" : ", ").append(entry.variant.name);
    return list;
}

/// The configuration that a forced variant runs with: the one named, else the one that the leaf ranks
/// highest for it, else its default.
template <class P>
std::optional<Configuration> forced_configuration(const Tables<P>& tables, const Registered<P>& entry,
                                                  const Leaf<P>* leaf, const ForcedVariant& forced) {
    if (!forced.configuration.empty()) {
        for (const Configuration& configuration : entry.variant.space.enumerate())
            if (configuration.text() == forced.configuration) return configuration;
        return std::nullopt;
    }
    if (leaf)
        for (const Choice<P>& choice : leaf->ranking)
            if (&tables.registry[static_cast<std::size_t>(choice.variant)] == &entry) return choice.configuration;
    return default_configuration(entry.variant.space);
}

template <class P>
Result<DispatchResult<P>> decide_forced(const Tables<P>& tables, const P& problem, const DeviceInfo& device,
                                        DispatchResult<P> decision, const ForcedVariant& forced,
                                        const Demands& demands) {
    const std::string name = std::string(tables.family) + "/" + forced.variant;
    const auto error = [&](ErrorCode code, const std::string& what) {
        return Error{code, printable_lines(std::string(forced.origin) + " asks for " + name + ": " + what)};
    };
    const auto entry = std::ranges::find_if(
        tables.registry, [&](const Registered<P>& other) { return other.variant.name == forced.variant; });
    if (entry == tables.registry.end()) {
        SimilarName meant(forced.variant);
        for (const Registered<P>& other : tables.registry) meant.offer(other.variant.name);
        return error(ErrorCode::unknown_variant,
                     "no such variant; known here: " + choices_for(tables, device.kind) + meant.question());
    }
    if (!entry->linked())
        return error(ErrorCode::unknown_variant,
                     "it is not in this library; it has " + choices_for(tables, device.kind));
    if (!meets(*entry, demands))
        return error(ErrorCode::unsupported, unmet(*entry, demands) + "; leave the choice to the library" +
                                                 (demands.deterministic ? " or do not ask for deterministic" : ""));
    const auto configuration = forced_configuration(tables, *entry, decision.leaf, forced);
    if (!configuration)
        return error(ErrorCode::unknown_variant, "it has no configuration '" + forced.configuration +
                                                     "'; its default is '" +
                                                     default_configuration(entry->variant.space).text() + "'");
    Configuration runs = *configuration;
    if (const Support support = resolve(*entry, problem, runs, device); !support)
        return error(ErrorCode::unsupported, support.reason + "; leave the choice to the library or name one of " +
                                                 choices_for(tables, device.kind));
    decision.entry = &*entry;
    decision.configuration = runs;
    decision.forced_by = forced.origin;
    return decision;
}

/// The first choice that is linked, supports the problem and meets the demands; `runs` is then the configuration that
/// it is here. The baseline that ends every ranking is not among them: it stands for nothing else. Where it is the only
/// choice it was the fastest.
template <class P>
const Choice<P>* first_that_runs(const Tables<P>& tables, const Leaf<P>& leaf, const P& problem,
                                 const DeviceInfo& device, const Demands& demands, Configuration& runs) {
    for (const Choice<P>& choice : leaf.ranking.first(std::max<std::size_t>(leaf.ranking.size(), 2) - 1)) {
        const Registered<P>& entry = tables.registry[static_cast<std::size_t>(choice.variant)];
        if (!entry.linked() || !meets(entry, demands)) continue;
        runs = choice.configuration;
        if (resolve(entry, problem, runs, device)) return &choice;
    }
    return nullptr;
}

/// The choice that was learned for the problem, if it can run there and meets the demands. The fastest of all choices
/// is the fastest of the deterministic ones, too, if it is one of them.
template <class P>
std::optional<DispatchResult<P>> decide_by_wisdom(const WisdomTable<P>& wisdom, const P& problem,
                                                  const DeviceInfo& device, const Demands& demands) {
    for (const bool deterministic : {true, false}) {
        if (deterministic && !demands.deterministic) continue;
        const LearnedChoice<P>* const learned = wisdom.find(problem, device, deterministic);
        if (!learned || !meets(*learned->variant, demands)) continue;
        DispatchResult<P> decision{learned->variant, learned->configuration, nullptr, nullptr};
        if (!resolve(*learned->variant, problem, decision.configuration, device)) continue;
        decision.wisdom = learned->entry;
        return decision;
    }
    return std::nullopt;
}

/// When every tree's leaf for the problem declines: what any other leaf ranks and can run it, by the same order.
template <class P>
std::optional<DispatchResult<P>> decide_by_other_leaves(const Tables<P>& tables, const P& problem,
                                                        const DeviceInfo& device, const Demands& demands) {
    SimilarTrees<P> trees(tables.selectors, device);
    while (const Selector<P>* tree = trees.next())
        for (const Leaf<P>& leaf : tree->leaves) {
            Configuration runs;
            const Choice<P>* choice = first_that_runs(tables, leaf, problem, device, demands, runs);
            if (!choice) continue;
            const Registered<P>& entry = tables.registry[static_cast<std::size_t>(choice->variant)];
            if (entry.variant.role == Role::baseline) continue;
            DispatchResult<P> decision{&entry, runs, tree, &leaf};
            decision.other_leaf = true;
            return decision;
        }
    return std::nullopt;
}

/// The first variant in the registry that meets the demands and runs the problem: for a baseline that does not.
template <class P>
const Registered<P>* any_that_meets(const Demands& demands, const Tables<P>& tables, const P& problem,
                                    const DeviceInfo& device) {
    for (const Registered<P>& entry : tables.registry) {
        Configuration runs = default_configuration(entry.variant.space);
        if (entry.linked() && meets(entry, demands) && resolve(entry, problem, runs, device)) return &entry;
    }
    return nullptr;
}

template <class P>
Result<DispatchResult<P>> decide_baseline(const Tables<P>& tables, const P& problem, const DeviceInfo& device,
                                          const Selector<P>* tree, const Leaf<P>* leaf, const Demands& demands) {
    const Registered<P>* entry = baseline(tables.registry, device.kind);
    if (entry && !meets(*entry, demands)) {
        const std::string why = unmet(*entry, demands);
        entry = any_that_meets(demands, tables, problem, device);
        if (!entry)
            return Error{ErrorCode::unsupported,
                         std::string(tables.family) + " on " + device.key +
                             ": no variant that meets the demands can run this problem (the baseline: " + why + ")" +
                             (demands.deterministic ? "; do not ask for deterministic" : "")};
    }
    if (!entry)
        return Error{ErrorCode::unsupported, "this build of the library has no " + std::string(tables.family) +
                                                 " for " + (device.kind == DeviceKind::cpu ? "CPUs" : "GPUs")};
    Configuration configuration = default_configuration(entry->variant.space);
    if (const Support support = resolve(*entry, problem, configuration, device); !support)
        return Error{ErrorCode::unsupported, std::string(tables.family) + " on " + device.key +
                                                 ": no variant can run this problem; the baseline " +
                                                 std::string(entry->variant.name) + ": " + support.reason};
    return DispatchResult<P>{entry, configuration, tree, leaf};
}

}  // namespace detail

/// Decides what runs. Wisdom of this very problem goes first. Else the trees are asked in the order of how
/// alike their devices are to this one, and each leaf's choices in the order of its ranking: the first choice that is
/// linked and supports the problem wins, one that is the same as another configuration here as that configuration. If
/// no tree's leaf for the problem has one, any leaf's choice will do; only what nothing else can run is the baseline's.
/// Allocates nothing when a choice is found in a leaf. `forced` may be null. Every variant that does not meet the
/// demands counts as one that cannot run. Errors: unknown_variant and unsupported for a forced variant; unsupported
/// when even the baseline declines, which it does only beyond the device's own limits.
template <class P>
Result<DispatchResult<P>> decide(const Tables<P>& tables, const P& problem, const DeviceInfo& device,
                                 const ForcedVariant* forced, const Demands& demands = {}) {
    if (tables.wisdom && !forced)
        if (const auto learned = detail::decide_by_wisdom(*tables.wisdom, problem, device, demands)) return *learned;
    SimilarTrees<P> trees(tables.selectors, device);
    const Selector<P>* const nearest = tables.lasting ? nearest_tree(tables.selectors, device) : trees.next();
    const Leaf<P>* const nearest_leaf = nearest ? &nearest->leaf_of(problem) : nullptr;
    if (forced)
        return detail::decide_forced(tables, problem, device, {nullptr, {}, nearest, nearest_leaf}, *forced, demands);
    const Leaf<P>* leaf = nearest_leaf;
    const auto following = [&] {
        const Selector<P>* const tree = trees.next();
        return tree == nearest ? trees.next() : tree;  // that one was remembered, and asked
    };
    for (const Selector<P>* tree = nearest; tree; tree = following()) {
        if (tree != nearest) leaf = &tree->leaf_of(problem);
        Configuration runs;
        if (const Choice<P>* choice = detail::first_that_runs(tables, *leaf, problem, device, demands, runs))
            // In its place at once: a result that is copied when its parts were just written waits for the stores.
            return Result<DispatchResult<P>>(std::in_place, &tables.registry[static_cast<std::size_t>(choice->variant)],
                                             runs, tree, leaf);
    }
    if (auto decision = detail::decide_by_other_leaves(tables, problem, device, demands)) return *decision;
    return detail::decide_baseline(tables, problem, device, nearest, nearest_leaf, demands);
}

/// Decides with what `Options::variant` or else ESPALIER_FORCE_VARIANT forces.
template <class P>
Result<DispatchResult<P>> decide(const P& problem, const DeviceInfo& device, std::string_view variant = {},
                                 const Demands& demands = {}) {
    const Tables<P> all = tables<P>();
    return with_forced_variant(all.family, variant, [&](const ForcedVariant* forced) {
        return decide(all, problem, device, forced, demands);
    });
}

}  // namespace espalier
