#include "harness/bench/judge/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "harness/base/files/read_file.hpp"
#include "harness/base/text/csv_field.hpp"
#include "harness/bench/judge/unseen.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/loaded_trees.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "kernels/dispatch/tree_path.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::learn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kChoices =
    "family,problem,variant,configuration,time_ns,regret,reason,earlier_source,tree_device,tree_data,"
    "leaf,leaf_problems,other_leaf,conditions\n";
constexpr std::string_view kTree =
    "depth,condition,leaf,problems,margin,regret,regret_lo,regret_hi,variant,configuration\n";

/// Six digits: more than any timing is good for.
std::string number(bool applies, double value) { return applies ? fmt::format("{:.6g}", value) : ""; }

/// The columns of the tree and its leaf; empty where no tree said anything.
std::string tree_columns(const Explanation* why) {
    if (!why || why->tree == Explanation::Tree::none) return ",,,,,";
    return fmt::format("{},{},{},{},{},{}", csv_field(why->tree_device), csv_field(why->tree_data), why->leaf,
                       why->problems, why->other_leaf ? 1 : 0, csv_field(why->path));
}

/// Whether a record is of other source than the variant has in this build; unknown sources are not called so.
bool is_of_earlier_source(const CaseRecord& record, const KnownStaleList& known) {
    const std::vector<StaleVariant> stale = find_stale(std::span(&record, 1));
    return !stale.empty() && !record.provenance.source_id.empty() && !is_known(known, stale.front());
}

/// The condition that leads from an inner node to its left or its right branch.
std::string branch(const TreeFile::Node& node, bool left) {
    const std::vector<std::string_view> categories(node.categories.begin(), node.categories.end());
    const TreeNode test = categories.empty() ? TreeNode::at_most(0, node.threshold, 0)
                                             : TreeNode::one_of(0, ~std::uint64_t{0} >> (64 - categories.size()), 0);
    return condition_text(node.feature, categories, test, left);
}

std::string tree_rows(const TreeFile& tree) {
    struct Place {
        int depth = 0;
        std::string condition;
    };
    std::vector<Place> places(tree.nodes.size());
    std::string out;
    int leaf = 0;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const TreeFile::Node& node = tree.nodes[i];
        out += fmt::format("{},{},", places[i].depth, csv_field(places[i].condition));
        if (node.feature.empty()) {
            const TreeFile::Choice& first = node.ranking.front();
            out += fmt::format("{},{},{:.6g},{:.6g},{:.6g},{:.6g},{},{}\n", leaf++, node.problems, node.margin,
                               node.regret, node.regret_lo, node.regret_hi, csv_field(first.variant),
                               csv_field(first.configuration));
            continue;
        }
        out += ",,,,,,,\n";
        places[node.left] = {places[i].depth + 1, branch(node, true)};
        places[node.right] = {places[i].depth + 1, branch(node, false)};
    }
    return out;
}

}  // namespace

std::string choices_csv(std::string_view family, const DeviceInfo& device, std::span<const CaseRecord> records,
                        const KnownStaleList& known) {
    std::map<std::string, Explanation> explanations;
    const auto pick = [&](const std::string& problem) -> Pick {
        auto why = explain(family, problem, device, nullptr);
        if (!why) return {"", "", why.error().message};
        Pick picked{why.value().variant, why.value().configuration};
        explanations.emplace(problem, std::move(why.value()));
        return picked;
    };
    std::string out(kChoices);
    for (const Verdict& verdict : grade(records, pick)) {
        const auto found = explanations.find(verdict.problem);
        const bool judged = verdict.unjudged.empty();
        const CaseRecord* const record = verdict.record;
        const bool timed = record && record->status == Status::ok;
        out += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_field(family), csv_field(verdict.problem),
                           csv_field(verdict.pick.variant), csv_field(verdict.pick.configuration),
                           number(timed, verdict.time_ns), number(judged, judged ? verdict.regret() : 0),
                           csv_field(judged ? verdict.failed : verdict.unjudged),
                           record ? (is_of_earlier_source(*record, known) ? "1" : "0") : "",
                           tree_columns(found == explanations.end() ? nullptr : &found->second));
    }
    return out;
}

std::string tree_csv(std::string_view family, std::string_view device_key) {
    const std::vector<LoadedSelector> loaded = trees_in_use();
    const auto tree = std::ranges::find_if(
        loaded, [&](const LoadedSelector& one) { return one.family == family && one.device == device_key; });
    const auto text = tree == loaded.end() ? std::nullopt : read_file(tree->file);
    return text ? csv_of_tree(*text) : std::string(kTree);
}

std::string csv_of_tree(const std::string& text) { return std::string(kTree) + tree_rows(read_tree(text)); }

std::vector<std::string> load_trees_of(const fs::path& selectors, std::span<const std::string> devices) {
    std::vector<std::string> refused;
    for (const std::string_view family : family_names())
        for (const std::string& device : devices) {
            const fs::path tree = selectors / family / (device + ".tree");
            std::error_code none;
            if (!fs::exists(tree, none)) continue;
            try {
                load_trees(tree.string());
            } catch (const BadData& error) {
                refused.emplace_back(error.what());
            }
        }
    return refused;
}

}  // namespace espalier::bench::learn
