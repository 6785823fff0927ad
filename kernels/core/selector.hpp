#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/core/as_asked.hpp"
#include "kernels/core/configuration.hpp"
#include "kernels/core/device_info.hpp"
#include "kernels/core/device_traits.hpp"
#include "kernels/core/pair.hpp"
#include "kernels/core/variant.hpp"

namespace espalier {

/// A variant with a configuration of it. `P::Id` is the family's generated enumeration of variants.
template <class P>
struct Choice {
    typename P::Id variant;
    Configuration configuration;
    float slowdown;  ///< geometric mean of its time / the best time over the leaf's problems that it supports
};

/// A leaf of a trained tree: what to run there, best first, ending in the baseline, and the evidence.
template <class P>
struct Leaf {
    int id;                              ///< numbered from the left
    int problems;                        ///< measured problems that fell into it; 0 if its evidence is imputed
    float margin;                        ///< slowdown of the best other variant over the first one; 1 if there is none
    float regret, regret_lo, regret_hi;  ///< geometric mean of what the ranking runs, bootstrap 95%
    std::string_view path;               ///< the conditions from the root, as text
    std::span<const Choice<P>> ranking;  ///< never empty
};

/// A node of a tree that was read from a file. The root is the first, and both ways lead to later ones, so that every
/// walk ends in a leaf.
template <class P>
struct TreeNode {
    enum class Asks : std::uint8_t {
        nothing,   ///< a leaf
        number,    ///< first <= threshold
        ratio,     ///< first / second <= threshold
        product,   ///< first * second <= threshold
        category,  ///< first is one of the categories
    };
    Asks asks = Asks::nothing;
    double (*first)(const P&) = nullptr;
    double (*second)(const P&) = nullptr;
    double threshold = 0;
    std::uint64_t categories = 0;   ///< bit i: that of value i
    std::uint32_t yes = 0, no = 0;  ///< places of nodes; of a leaf `yes` is its place among the leaves

    [[nodiscard]] bool holds(const P& problem) const {
        const double value = first(problem);
        if (asks == Asks::number) [[likely]]
            return value <= threshold;
        if (asks == Asks::category) return value >= 0 && value < 64 && (categories >> static_cast<int>(value) & 1) != 0;
        return (asks == Asks::ratio ? ratio(value, second(problem)) : product(value, second(problem))) <= threshold;
    }
};

/// The selector of one family for one device: generated code, or a tree that was read from a file. Pure and total.
template <class P>
struct Selector {
    std::string_view device_key;
    DeviceTraits device;  ///< what it was trained on
    std::string_view data_sha256;
    const Leaf<P>& (*select)(const P&, const DeviceInfo&);  ///< null for a tree from a file
    std::span<const Leaf<P>> leaves;                        ///< all that may be returned
    std::span<const TreeNode<P>> nodes{};                   ///< of a tree from a file
    std::string_view file{};                                ///< its path; empty for generated code

    [[nodiscard]] const Leaf<P>& leaf_of(const P& given, const DeviceInfo& here) const {
        const P& problem = as_asked(given);
        if (select) return select(problem, here);
        const TreeNode<P>* node = nodes.data();
        while (node->asks != TreeNode<P>::Asks::nothing) node = &nodes[node->holds(problem) ? node->yes : node->no];
        return leaves[node->yes];
    }
};

/// What a selector's ranking comes down to for one problem: a variant that can run it, ready to be run.
template <class P>
struct Chosen {
    const Variant<P>* variant;  ///< in the registry, which lives as long as the program
    Configuration configuration;
};

}  // namespace espalier
