#include "harness/bench/judge/choices.hpp"

#include <fmt/format.h>

#include <map>
#include <system_error>

#include "harness/base/text/csv_field.hpp"
#include "harness/bench/judge/unseen.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/loaded_trees.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::learn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader =
    "family,problem,variant,configuration,time_ns,regret,reason,tree_device,tree_data,leaf,leaf_problems,other_leaf,"
    "conditions\n";

/// Six digits: more than any timing is good for.
std::string number(bool applies, double value) { return applies ? fmt::format("{:.6g}", value) : ""; }

/// The columns of the tree and its leaf; empty where no tree said anything.
std::string tree_columns(const Explanation* why) {
    if (!why || why->tree == Explanation::Tree::none) return ",,,,,";
    return fmt::format("{},{},{},{},{},{}", csv_field(why->tree_device), csv_field(why->tree_data), why->leaf,
                       why->problems, why->other_leaf ? 1 : 0, csv_field(why->path));
}

}  // namespace

std::string choices_csv(std::string_view family, const DeviceInfo& device, std::span<const CaseRecord> records) {
    std::map<std::string, Explanation> explanations;
    const auto pick = [&](const std::string& problem) -> Pick {
        auto why = explain(family, problem, device, nullptr);
        if (!why) return {"", "", why.error().message};
        Pick picked{why.value().variant, why.value().configuration};
        explanations.emplace(problem, std::move(why.value()));
        return picked;
    };
    std::string out(kHeader);
    for (const Verdict& verdict : grade(records, pick)) {
        const auto found = explanations.find(verdict.problem);
        const bool judged = verdict.unjudged.empty();
        out += fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(family), csv_field(verdict.problem),
                           csv_field(verdict.pick.variant), csv_field(verdict.pick.configuration),
                           number(verdict.pick_timed, verdict.time_ns), number(judged, judged ? verdict.regret() : 0),
                           csv_field(judged ? verdict.failed : verdict.unjudged),
                           tree_columns(found == explanations.end() ? nullptr : &found->second));
    }
    return out;
}

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
