#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/registry.hpp"
#include "kernels/core/selector.hpp"
#include "kernels/core/similar_name.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier {

/// A tree from a file with its problem type erased.
struct LoadedTree {
    virtual ~LoadedTree() = default;

    std::string family, device_key;
    std::string file;  ///< its path
    std::string text;  ///< all of it: the same again is the same tree
};

/// A family's selectors with their problem type erased.
struct LoadedTable {
    virtual ~LoadedTable() = default;
};

/// The memory behind a selector that was read from a file: everything in it points here.
template <class P>
struct LoadedTreeOf final : LoadedTree {
    std::string data_sha256, microarchitecture;
    std::deque<std::string> names;  ///< of columns, and of tunables whose variant is not linked
    std::deque<std::vector<Choice<P>>> rankings;
    std::vector<ReadFeature<P>> features;
    std::vector<Column> columns;
    std::vector<Leaf<P>> leaves;
    std::vector<TreeNode> nodes;
    Selector<P> selector;
};

namespace detail {

/// Looks up the names in a tree's file in a family's features and registry.
template <class P>
class TreeBuilder {
public:
    TreeBuilder(const TreeFile& file, std::span<const Registered<P>> registry)
        : file_(file), registry_(registry), tree_(std::make_unique<LoadedTreeOf<P>>()) {}

    /// Throws BadData.
    std::unique_ptr<LoadedTreeOf<P>> build() {
        tree_->family = file_.family;
        tree_->device_key = file_.device_key;
        tree_->data_sha256 = file_.data_sha256;
        tree_->microarchitecture = file_.microarchitecture;
        for (const TreeFile::Node& node : file_.nodes)
            if (node.feature.empty())
                add_leaf(node);
            else
                add_test(node);
        DeviceTraits device = file_.device;
        device.microarchitecture = tree_->microarchitecture;
        tree_->selector = {.device_key = tree_->device_key,
                           .device = device,
                           .data_sha256 = tree_->data_sha256,
                           .features = tree_->features,
                           .columns = tree_->columns,
                           .nodes = tree_->nodes,
                           .leaves = tree_->leaves};
        return std::move(tree_);
    }

private:
    /// The file's nodes are in pre-order, as ours are.
    void add_test(const TreeFile::Node& from) {
        const auto no = static_cast<std::uint16_t>(from.right);
        if (from.categories.empty())
            return tree_->nodes.push_back(TreeNode::at_most(column_of(from.feature), from.threshold, no));
        const std::uint16_t column = category_column(from.feature);
        tree_->nodes.push_back(TreeNode::one_of(column, category_bits(from, known(from.feature).categories), no));
    }

    /// The column of a number, or of two.
    std::uint16_t column_of(const std::string& name) {
        const AskedFeatures asked = asked_features(name);
        Column column{.first = place_of(number(asked.first)), .kind = asked.kind};
        if (!asked.second.empty()) column.second = place_of(number(asked.second));
        return place_of(name, column);
    }

    std::uint16_t category_column(const std::string& name) {
        if (name.find(' ') != std::string::npos) throw BadData("it asks for a category of " + name);
        const Feature<P>& feature = known(name);
        if (feature.categories.empty()) throw BadData("it asks for a category of " + name + ", a number");
        return place_of(name, {.first = place_of(feature)});
    }

    /// Families have far fewer features than a tree may ask about.
    std::uint8_t place_of(const Feature<P>& feature) {
        auto& features = tree_->features;
        const auto same = std::ranges::find(features, feature.value);
        const auto place = static_cast<std::uint8_t>(same - features.begin());
        if (same == features.end()) features.push_back(feature.value);
        return place;
    }

    std::uint16_t place_of(const std::string& name, Column column) {
        auto& columns = tree_->columns;
        const auto same = std::ranges::find(columns, name, &Column::name);
        const auto place = static_cast<std::uint16_t>(same - columns.begin());
        if (same == columns.end()) {
            column.name = tree_->names.emplace_back(name);
            columns.push_back(column);
        }
        return place;
    }

    static const Feature<P>& known(const std::string& name) {
        const auto features = P::features();
        const auto at = std::ranges::find(features, name, &Feature<P>::name);
        if (at == features.end())
            throw BadData("it asks for '" + name + "', which is no feature of the family" +
                          question(name, features, [](const Feature<P>& f) { return f.name; }));
        if (!at->known) throw BadData("it asks for " + name + ", which no caller knows");
        return *at;
    }

    static const Feature<P>& number(const std::string& name) {
        const Feature<P>& feature = known(name);
        if (!feature.categories.empty()) throw BadData("it compares " + name + ", a category, with a number");
        return feature;
    }

    template <class List, class NameOf>
    static std::string question(const std::string& name, const List& list, NameOf name_of) {
        SimilarName meant(name);
        for (const auto& item : list) meant.offer(name_of(item));
        return meant.question();
    }

    void add_leaf(const TreeFile::Node& from) {
        const std::size_t place = tree_->leaves.size();
        tree_->nodes.push_back(TreeNode::leaf(static_cast<std::uint16_t>(place)));
        std::vector<Choice<P>>& ranking = tree_->rankings.emplace_back();
        for (const TreeFile::Choice& choice : from.ranking) ranking.push_back(choice_of(choice));
        const Registered<P>& last = entry_of(ranking.back());
        if (last.linked() && last.variant.role != Role::baseline)
            throw BadData("a ranking ends in " + std::string(last.variant.name) + ", which is no baseline");
        tree_->leaves.push_back({.id = static_cast<int>(place),
                                 .problems = from.problems,
                                 .margin = from.margin,
                                 .regret = from.regret,
                                 .regret_lo = from.regret_lo,
                                 .regret_hi = from.regret_hi,
                                 .ranking = ranking});
    }

    const Registered<P>& entry_of(const Choice<P>& choice) const {
        return registry_[static_cast<std::size_t>(choice.variant)];
    }

    Choice<P> choice_of(const TreeFile::Choice& choice) {
        const auto at = std::ranges::find_if(
            registry_, [&](const Registered<P>& entry) { return entry.variant.name == choice.variant; });
        if (at == registry_.end())
            throw BadData("it ranks '" + choice.variant + "', which is no variant of the family here" +
                          question(choice.variant, registry_, [](const Registered<P>& e) { return e.variant.name; }));
        if (at->kind != file_.device.kind || at->variant.role == Role::peer)
            throw BadData("it ranks " + choice.variant + ", which never runs on " +
                          (file_.device.kind == DeviceKind::cpu ? "a CPU" : "a GPU") + " in the library");
        return {static_cast<typename P::Id>(at - registry_.begin()), configuration_of(*at, choice), choice.slowdown};
    }

    Configuration configuration_of(const Registered<P>& entry, const TreeFile::Choice& choice) {
        // A variant that is not linked has no tunables here to compare with: it is shown and never run.
        const auto found = entry.linked() ? linked_configuration(entry, choice.configuration)
                                          : own_configuration(choice.configuration);
        if (found) return *found;
        throw BadData("it ranks " + choice.variant + " with '" + choice.configuration.substr(0, 100) +
                      "', which is no configuration of it");
    }

    static std::optional<Configuration> linked_configuration(const Registered<P>& entry, const std::string& text) {
        for (const Configuration& configuration : entry.variant.space.enumerate())
            if (configuration.text() == text) return configuration;
        return std::nullopt;
    }

    /// Of a variant that is not linked: the names are the tree's own from here on.
    std::optional<Configuration> own_configuration(std::string_view text) {
        const auto spelled = spelled_configuration(text);
        if (!spelled) return std::nullopt;
        Configuration configuration;
        for (const auto& [name, value] : *spelled) configuration.push_back({tree_->names.emplace_back(name), value});
        return configuration;
    }

    const TreeFile& file_;
    std::span<const Registered<P>> registry_;
    std::unique_ptr<LoadedTreeOf<P>> tree_;
};

}  // namespace detail

/// The tree that a file spells, by the names of this program. Throws BadData, which names what is unknown.
template <class P>
std::unique_ptr<LoadedTreeOf<P>> tree_of(const TreeFile& file, std::span<const Registered<P>> registry) {
    return detail::TreeBuilder<P>(file, registry).build();
}

}  // namespace espalier
