#pragma once

#include <algorithm>
#include <bit>
#include <string>

#include "kernels/core/feature.hpp"
#include "kernels/core/plain_number.hpp"
#include "kernels/core/selector.hpp"

namespace espalier {

/// A test of a tree, or its opposite, in words: "rows <= 1000", "border != mirror or zero".
template <class P>
std::string condition_text(const Column& column, const TreeNode& node, bool holds) {
    const std::string name(column.name);
    if (node.categories == 0) return name + (holds ? " <= " : " > ") + plain_number(node.threshold);
    const auto feature = std::ranges::find(P::features(), column.name, &Feature<P>::name);
    std::string list;
    for (std::uint64_t left = node.categories; left != 0; left &= left - 1)
        list.append(list.empty() ? "" : " or ")
            .append(feature->categories[static_cast<std::size_t>(std::countr_zero(left))]);
    return name + (holds ? " == " : " != ") + list;
}

/// The conditions on the way to a leaf: "rows <= 1000 and border == zero". Empty for a tree of one leaf.
template <class P>
std::string path_to(const Selector<P>& tree, const Leaf<P>& leaf) {
    const auto number = static_cast<std::size_t>(leaf.id);
    std::size_t place = 0;
    while (!(tree.nodes[place].is_leaf() && tree.nodes[place].no == number)) ++place;
    std::string path;
    for (std::size_t at = 0; at != place;) {
        const TreeNode& node = tree.nodes[at];
        const bool holds =
            place < node.no;  // in pre-order all below a test that holds come before those below the other
        path.append(path.empty() ? "" : " and ").append(condition_text<P>(tree.columns[node.column], node, holds));
        at = holds ? at + 1 : node.no;
    }
    return path;
}

}  // namespace espalier
