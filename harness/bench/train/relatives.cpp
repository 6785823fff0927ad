#include "harness/bench/train/relatives.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "harness/base/files/read_file.hpp"
#include "harness/bench/learn/in_family.hpp"
#include "harness/bench/train/beside.hpp"
#include "harness/bench/train/decisions.hpp"
#include "harness/bench/train/train.hpp"
#include "kernels/dispatch/similar_trees.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::learn {
namespace {

namespace fs = std::filesystem;

struct File {
    fs::path path;
    bool beside;  ///< among the trees of the results that are trained on
};

/// By device, so that a tie goes to the same tree on every machine.
std::map<std::string, File> trees_in(const TrainingFolders& folders, const std::string& family) {
    std::map<std::string, File> files;
    std::error_code none;
    for (const fs::path& folder : {folders.evidence_trees, folders.output}) {
        if (folder.empty()) continue;
        for (const auto& entry : fs::directory_iterator(folder / family, none))
            if (entry.path().extension() == ".tree")
                files[entry.path().stem().string()] = {entry.path(), folder == folders.output};
    }
    return files;
}

bool ranks_any(const TreeFile& tree, const std::set<std::string>& variants) {
    return std::ranges::any_of(tree.nodes, [&](const TreeFile::Node& node) {
        return std::ranges::any_of(node.ranking,
                                   [&](const TreeFile::Choice& choice) { return variants.contains(choice.variant); });
    });
}

}  // namespace

int problems_of(const TreeFile& tree) {
    int problems = 0;
    for (const TreeFile::Node& node : tree.nodes) problems += node.problems;
    return problems;
}

std::set<std::string> untried_variants(const Trained& own, const DeviceInfo& device) {
    std::set<std::string> untried;
    for (std::size_t v = 0; v < own.family->variants().size(); ++v) {
        const VariantInfo& variant = own.family->variants()[v];
        if (variant.choosable() && own.evidence.source_ids[v].empty() &&
            supports_any(*own.family, device, own.evidence.matrix.problems, v))
            untried.emplace(variant.name);
    }
    return untried;
}

std::optional<RelativeTree> nearest_relative(const TrainingFolders& folders, const std::string& family,
                                             const DeviceInfo& device, const std::set<std::string>& wanted) {
    const DeviceTraits traits = traits_of(device);
    std::optional<RelativeTree> nearest;
    std::tuple<std::int64_t, int> rank;
    for (const auto& [key, file] : trees_in(folders, family)) {
        auto text = read_file(file.path);
        if (key == device.key || !text) continue;
        try {
            const TreeFile tree = read_tree(*text);
            if (tree.device.kind != device.kind || tree.family != family) continue;
            if (!wanted.empty() && !ranks_any(tree, wanted)) continue;
            DeviceTraits trained = tree.device;
            trained.microarchitecture = tree.microarchitecture;
            if (file.beside && alike(traits, trained)) continue;
            const std::tuple<std::int64_t, int> its{dissimilarity(traits, trained), -problems_of(tree)};
            if (nearest && its >= rank) continue;
            rank = its;
            nearest = RelativeTree{key, std::move(*text), problems_of(tree)};
        } catch (const BadData&) {
            continue;
        }
    }
    return nearest;
}

std::optional<BesideRelative> beside_relative(const Trained& own, const DeviceInfo& device,
                                              const RelativeTree& relative, const std::set<std::string>& untried) {
    const std::vector<double>& held_out = own.evaluation.held_out.logs;
    const auto decisions = held_out.empty() ? std::nullopt : decisions_of(relative.text, own, device);
    if (!decisions) return std::nullopt;
    double ours = 0, its = 0;
    BesideRelative cost;
    for (std::size_t p = 0; p < held_out.size(); ++p) {
        const std::string& choice = decisions->choices[p];
        if (untried.contains(choice.substr(0, choice.find(' '))))
            ++cost.untried;
        else if (!std::isnan(held_out[p]) && !std::isnan(decisions->logs[p]))
            ours += held_out[p], its += decisions->logs[p], ++cost.problems;
    }
    if (cost.problems == 0) return cost;
    const auto count = static_cast<double>(cost.problems);
    cost.own = std::exp(ours / count), cost.relative = std::exp(its / count);
    return cost;
}

bool is_better(const RelativeTree& relative, const BesideRelative& cost, const Trained& own) {
    const std::size_t problems = own.evidence.matrix.rows();
    if (relative.problems < 2 * static_cast<int>(problems)) return false;
    if (10 * cost.untried >= problems) return true;
    constexpr double kGain = 1.005;  // as for a forest to be kept
    return 10 * cost.problems >= 9 * problems && cost.relative * kGain < cost.own;
}

}  // namespace espalier::bench::learn
