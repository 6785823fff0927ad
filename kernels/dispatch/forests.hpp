#pragma once

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/as_asked.hpp"
#include "kernels/core/registry.hpp"
#include "kernels/core/selector.hpp"
#include "kernels/dispatch/forest_file.hpp"
#include "kernels/dispatch/tables.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier {

/// Reads forests from there, as <folder>/<family>/<device-key>.forest, in place of the folder ESPALIER_FORESTS or,
/// where that is not set, share/espalier/forests beside the library. Those of loaded trees lie beside their trees.
void set_forest_folder(std::string folder);

/// Why forests of a family are not used; empty if nothing is wrong.
std::string ignored_forests(std::string_view family);

namespace detail {

/// The file of the forest that goes with a tree; empty if there is no folder of forests.
std::string forest_path(std::string_view family, std::string_view device_key, std::string_view tree_file);

/// The forest of that file if it is there, and of the tree that was trained from these data. Throws BadData.
std::optional<ForestFile> forest_in(const std::string& path, std::string_view family, std::string_view device_key,
                                    std::string_view data_sha256);

void ignore_forest(std::string_view family, const std::string& why);

/// Held while the forests of any family are looked up or read; a fork waits for it.
std::mutex& forest_mutex();

}  // namespace detail

/// A forest from a file, its names looked up in this program.
template <class P>
class LoadedForest {
public:
    /// A choice with its slowdown as the forest predicts it. `variant` is null for one that this program has not.
    struct Predicted {
        const Registered<P>* variant;
        Configuration configuration;
        double slowdown;
    };

    /// Throws BadData for a forest that asks for what the family has not. Choices that it has not are never made.
    LoadedForest(const ForestFile& file, std::span<const Registered<P>> registry) : forest_(file.forest) {
        for (std::size_t i = 0; i < forest_.inputs.size(); ++i)
            forest_.inputs[i].category = category_of(feature_of(file, i), forest_.inputs[i].kind, file.categories[i]);
        features_.resize(file.features.size());
        for (const ForestInput& input : forest_.inputs)
            features_[input.feature] = feature_named(file.features[input.feature]).value;
        for (const ForestFile::Choice& choice : file.choices) choices_.push_back(choice_of(choice, registry));
    }

    /// What the forest has been made of: also what a problem's features are in its eyes.
    [[nodiscard]] const ChoiceForest& forest() const { return forest_; }

    /// By choice the sum over all trees.
    [[nodiscard]] std::vector<std::uint32_t> totals(const P& given) const {
        const P& problem = as_asked(given);
        double values[kMostFeatures];
        for (std::size_t i = 0; i < features_.size(); ++i) values[i] = features_[i] ? features_[i](problem) : 0;
        std::vector<float> columns(forest_.columns());
        std::vector<std::uint32_t> totals(forest_.choices);
        forest_.read(values, columns.data());
        forest_.ask(columns.data(), totals.data());
        return totals;
    }

    /// All choices that this program has, the fastest first.
    [[nodiscard]] std::vector<Predicted> predict(const P& problem) const {
        const std::vector<std::uint32_t> slowdowns = totals(problem);
        std::vector<std::pair<std::uint32_t, std::size_t>> order;
        for (std::size_t c = 0; c < slowdowns.size(); ++c)
            if (choices_[c].variant) order.emplace_back(slowdowns[c], c);
        std::ranges::sort(order);
        std::vector<Predicted> predicted;
        for (const auto& [total, c] : order)
            predicted.push_back({choices_[c].variant, choices_[c].configuration, forest_.slowdown(total)});
        return predicted;
    }

private:
    static const Feature<P>& feature_named(const std::string& name) {
        const auto at = std::ranges::find(P::features(), name, &Feature<P>::name);
        if (at == P::features().end() || !at->known)
            throw BadData("it asks for '" + name + "', which is no feature of the family that callers know");
        return *at;
    }
    static const Feature<P>& feature_of(const ForestFile& file, std::size_t input) {
        return feature_named(file.features[file.forest.inputs[input].feature]);
    }

    static std::uint8_t category_of(const Feature<P>& feature, ForestInput::Kind kind, const std::string& name) {
        if (feature.categories.empty() != (kind != ForestInput::Kind::is))
            throw BadData("it takes " + std::string(feature.name) + " for what it is not");
        if (kind != ForestInput::Kind::is) return 0;
        const auto at = std::ranges::find(feature.categories, name);
        if (at == feature.categories.end())
            throw BadData(std::string(feature.name) + " has no category '" + name + "'");
        return static_cast<std::uint8_t>(at - feature.categories.begin());
    }

    static Predicted choice_of(const ForestFile::Choice& choice, std::span<const Registered<P>> registry) {
        const auto entry = std::ranges::find_if(
            registry, [&](const Registered<P>& other) { return other.variant.name == choice.variant; });
        if (entry == registry.end() || !entry->linked() || entry->variant.role == Role::peer) return {nullptr, {}, 1};
        for (const Configuration& configuration : entry->variant.space.enumerate())
            if (configuration.text() == choice.configuration) return {&*entry, configuration, 1};
        return {nullptr, {}, 1};
    }

    ChoiceForest forest_;
    std::vector<ReadFeature<P>> features_;  ///< null for one that no input is made of
    std::vector<Predicted> choices_;
};

/// All forests of a family that were read so far. None is freed: plans keep what they were made by.
template <class P>
class ForestStore {
public:
    /// The forest that goes with a tree, read when it is first asked for; null if there is none, or none of use, which
    /// `ignored_forests` tells.
    const LoadedForest<P>* find(const Tables<P>& tables, const Selector<P>& tree) {
        const std::lock_guard lock(detail::forest_mutex());
        Key key{detail::forest_path(tables.family, tree.device_key, tree.file), std::string(tree.data_sha256)};
        for (const auto& [known, forest] : forests_)
            if (known == key) return forest ? &*forest : nullptr;
        std::optional<LoadedForest<P>> loaded;
        try {
            if (const auto file = detail::forest_in(key.first, tables.family, tree.device_key, tree.data_sha256))
                loaded.emplace(*file, tables.registry);
        } catch (const BadData& error) {
            detail::ignore_forest(tables.family, key.first + ": " + error.what());
        }
        const auto& kept = forests_.emplace_back(std::move(key), std::move(loaded)).second;
        return kept ? &*kept : nullptr;
    }

private:
    using Key = std::pair<std::string, std::string>;

    std::deque<std::pair<Key, std::optional<LoadedForest<P>>>> forests_;
};

/// Never destroyed: other threads may decide while the program ends.
template <class P>
const LoadedForest<P>* forest_beside(const Tables<P>& tables, const Selector<P>& tree) {
    static ForestStore<P>& store = *new ForestStore<P>;
    return store.find(tables, tree);
}

}  // namespace espalier
