#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "kernels/core/device_info.hpp"
#include "kernels/core/selector.hpp"

namespace espalier {

/// How unlike a device is to the one of its kind that a tree was trained on: 0 if nothing that is known differs. CPUs:
/// a tree of a poorer instruction set is farther than any other; a step to a richer one counts as much as twice the
/// threads, another maker's microarchitecture as well, another one of the same maker's half of that. GPUs: the compute
/// capability, the number of SMs, shared memory, L2 and bandwidth. Whole numbers, so that every machine ranks alike.
std::int64_t dissimilarity(const DeviceTraits& device, const DeviceTraits& trained);

/// How `device` differs from what a tree was trained on, in words: "16 threads instead of 2, zen4 instead of zen3".
/// Empty if nothing that is known differs.
std::string difference(const DeviceTraits& device, const DeviceTraits& trained);

/// Goes through the trees for a device's kind, the most similar device's first; of devices as similar the tree that
/// more problems were measured for, then the first in the table. The tree of the very key comes before all others.
template <class P>
class SimilarTrees {
public:
    SimilarTrees(std::span<const Selector<P>> all, const DeviceInfo& device) : all_(all), device_(device) {}

    /// Null after the last one.
    const Selector<P>* next() {
        if (place_++ == 0)
            for (const Selector<P>& tree : all_)
                if (tree.device.kind == device_.kind && tree.device_key == device_.key) return exact_ = &tree;
        const DeviceTraits traits = traits_of(device_);
        Rank nearest{0, nullptr};
        for (const Selector<P>& tree : all_) {
            if (&tree == exact_ || tree.device.kind != device_.kind) continue;
            const Rank rank{dissimilarity(traits, tree.device), &tree};
            if (!before(last_, rank) || (nearest.tree && !before(rank, nearest))) continue;
            nearest = rank;
        }
        if (nearest.tree) last_ = nearest;
        return nearest.tree;
    }

private:
    struct Rank {
        std::int64_t unlike;
        const Selector<P>* tree;
    };

    static bool before(const Rank& a, const Rank& b) {
        if (a.unlike != b.unlike || a.tree == b.tree) return a.unlike < b.unlike;
        const int problems = problems_of(*a.tree), others = problems_of(*b.tree);
        return problems != others ? problems > others : a.tree < b.tree;
    }

    static int problems_of(const Selector<P>& tree) {
        int all = 0;
        for (const Leaf<P>& leaf : tree.leaves) all += leaf.problems;
        return all;
    }

    std::span<const Selector<P>> all_;
    const DeviceInfo& device_;
    const Selector<P>* exact_ = nullptr;
    Rank last_{-1, nullptr};
    int place_ = 0;
};

}  // namespace espalier
