#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/core/feature.hpp"
#include "kernels/core/plain_number.hpp"
#include "kernels/core/selector.hpp"

namespace espalier {

/// A test of a tree, or its opposite, in words: "rows <= 1000", "border != mirror or zero". `categories` are those of
/// the column, none of a number.
inline std::string condition_text(std::string_view column, std::span<const std::string_view> categories,
                                  const TreeNode& node, bool holds) {
    const std::string name(column);
    if (node.categories == 0) return name + (holds ? " <= " : " > ") + plain_number(node.threshold);
    std::string list;
    for (std::uint64_t left = node.categories; left != 0; left &= left - 1)
        list.append(list.empty() ? "" : " or ").append(categories[static_cast<std::size_t>(std::countr_zero(left))]);
    return name + (holds ? " == " : " != ") + list;
}

/// The conditions on the way to a leaf, by its place among the leaves: "rows <= 1000 and border == zero". Empty for a
/// tree of one leaf. `text(node, holds)` is a test in words.
template <class Text>
std::string path_to(std::span<const TreeNode> nodes, std::size_t leaf, const Text& text) {
    std::size_t place = 0;
    while (!(nodes[place].is_leaf() && nodes[place].no == leaf)) ++place;
    std::string path;
    for (std::size_t at = 0; at != place;) {
        const TreeNode& node = nodes[at];
        // In pre-order all below a test that holds come before those below the other.
        const bool holds = place < node.no;
        path.append(path.empty() ? "" : " and ").append(text(node, holds));
        at = holds ? at + 1 : node.no;
    }
    return path;
}

/// The conditions on the way to a leaf of a selector.
template <class P>
std::string path_to(const Selector<P>& tree, const Leaf<P>& leaf) {
    return path_to(tree.nodes, static_cast<std::size_t>(leaf.id), [&](const TreeNode& node, bool holds) {
        const std::string_view column = tree.columns[node.column].name;
        const auto feature = std::ranges::find(P::features(), column, &Feature<P>::name);
        return condition_text(column, node.categories == 0 ? std::span<const std::string_view>{} : feature->categories,
                              node, holds);
    });
}

}  // namespace espalier
