#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/core/as_asked.hpp"
#include "kernels/core/configuration.hpp"
#include "kernels/core/device_traits.hpp"
#include "kernels/core/pair.hpp"
#include "kernels/core/variant.hpp"

namespace espalier {

/// A variant with a configuration of it. `P::Id` is the family's generated enumeration of variants.
template <class P>
struct Choice {
    typename P::Id variant;
    Configuration configuration;
    float slowdown = 1;  ///< geometric mean of its time / the best time over the leaf's problems that it supports

    /// The same in a leaf where it is so much slower.
    [[nodiscard]] constexpr Choice at(float slower) const { return {variant, configuration, slower}; }
};

/// A leaf of a trained tree: what to run there, best first, ending in the baseline, and the evidence.
template <class P>
struct Leaf {
    int id;                              ///< numbered from the left
    int problems;                        ///< measured problems that fell into it; 0 if its evidence is imputed
    float margin;                        ///< slowdown of the best other variant over the first one; 1 if there is none
    float regret, regret_lo, regret_hi;  ///< geometric mean of what the ranking runs, bootstrap 95%
    std::span<const Choice<P>> ranking;  ///< never empty
};

/// Reads a feature that a tree asks about.
template <class P>
using ReadFeature = double (*)(const P&);

/// The most features that a tree asks about.
inline constexpr std::size_t kMostFeatures = 64;

/// All features of a table, in its order: straight code, which takes less time than a call for each that a walk meets.
template <const auto& features, class P>
void read_features(const P& problem, double* values) {
    static_assert(std::size(features) <= kMostFeatures);
    [&]<std::size_t... i>(std::index_sequence<i...>) { ((values[i] = features[i](problem)), ...); }
    (std::make_index_sequence<std::size(features)>());
}

/// The feature of the problem, or the two, that a node asks about.
struct Column {
    enum class Kind : std::uint8_t { feature, ratio, product };

    std::string_view name;   ///< "rows", "rows / k", "rows * k"
    std::uint8_t first = 0;  ///< its place among the features
    Kind kind = Kind::feature;
    std::uint8_t second = 0;

    [[nodiscard]] double value(const double* features) const {
        if (kind == Kind::feature) return features[first];
        return kind == Kind::ratio ? ratio(features[first], features[second])
                                   : product(features[first], features[second]);
    }
};

/// A node of a tree. Nodes are in pre-order, the root first: a test that holds leads to the next node, so that every
/// walk ends in a leaf.
struct TreeNode {
    static constexpr std::uint16_t kLeaf = 0xFFFF;

    std::uint16_t column = kLeaf;  ///< its place among the columns, or kLeaf
    std::uint16_t no = 0;          ///< the node that a test that fails leads to; of a leaf its place among the leaves
    double threshold = 0;          ///< at most that
    std::uint64_t categories = 0;  ///< or, if not 0, one of these: bit i is that of value i

    static constexpr TreeNode at_most(std::uint16_t column, double threshold, std::uint16_t no) {
        return {column, no, threshold};
    }
    static constexpr TreeNode one_of(std::uint16_t column, std::uint64_t categories, std::uint16_t no) {
        return {column, no, 0, categories};
    }
    static constexpr TreeNode leaf(std::uint16_t place) { return {kLeaf, place}; }

    [[nodiscard]] constexpr bool is_leaf() const { return column == kLeaf; }
    [[nodiscard]] constexpr bool holds(double value) const {
        if (categories == 0) [[likely]]
            return value <= threshold;
        return value >= 0 && value < 64 && (categories >> static_cast<int>(value) & 1) != 0;
    }
};

/// The leaf, by its place among the leaves, that a walk from the root ends in; `value_of(column)` is what a problem has
/// there.
template <class ValueOf>
std::size_t leaf_of(std::span<const TreeNode> nodes, const ValueOf& value_of) {
    const TreeNode* node = nodes.data();
    while (!node->is_leaf()) node = node->holds(value_of(node->column)) ? node + 1 : &nodes[node->no];
    return node->no;
}

/// The selector of one family for one device: tables that are compiled in, or those of a tree that was read from a
/// file. Pure and total.
template <class P>
struct Selector {
    std::string_view device_key;
    DeviceTraits device;  ///< what it was trained on
    std::string_view data_sha256;
    std::span<const ReadFeature<P>> features;
    std::span<const Column> columns;
    std::span<const TreeNode> nodes;
    std::span<const Leaf<P>> leaves;
    void (*read)(const P&, double*) = nullptr;  ///< `read_features` of the features, of those compiled in
    std::string_view file{};                    ///< the path of the one that was read; empty for those compiled in

    [[nodiscard]] const Leaf<P>& leaf_of(const P& given) const {
        const P& problem = as_asked(given);
        double values[kMostFeatures];
        if (read)
            read(problem, values);
        else
            for (std::size_t i = 0; i < features.size(); ++i) values[i] = features[i](problem);
        return leaves[espalier::leaf_of(nodes, [&](std::size_t column) { return columns[column].value(values); })];
    }
};

/// The variant of a selector's ranking that can run one problem, ready to be run.
template <class P>
struct Chosen {
    const Variant<P>* variant;  ///< in the registry, which lives as long as the program
    Configuration configuration;
};

}  // namespace espalier
