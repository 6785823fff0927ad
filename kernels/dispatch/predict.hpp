#pragma once

#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/forests.hpp"

namespace espalier {

/// Puts what the forest of the most similar tree ranks first, of what can run and meets the demands, in the place of
/// a tree's choice. What is forced or was measured stays, and so does the tree's where there is no forest, or where it
/// only has choices left that it takes for slow: forests do not tell slow ones apart.
template <class P>
void predict(DispatchResult<P>& decision, const Tables<P>& tables, const P& problem, const DeviceInfo& device,
             const Demands& demands) {
    if (decision.wisdom || !decision.forced_by.empty()) return;
    const Selector<P>* const tree = SimilarTrees<P>(tables.selectors, device).next();
    const LoadedForest<P>* const forest = tree ? forest_beside(tables, *tree) : nullptr;
    if (!forest) return;
    constexpr double kSlow = 1.8;
    for (const auto& choice : forest->predict(problem)) {
        if (choice.slowdown > kSlow) return;
        DispatchResult<P> predicted{choice.variant, choice.configuration, tree, &tree->leaf_of(problem)};
        if (!meets(*choice.variant, demands) || !resolve(*choice.variant, problem, predicted.configuration, device))
            continue;
        predicted.forest = forest;
        decision = predicted;
        return;
    }
}

}  // namespace espalier
