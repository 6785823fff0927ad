// Leaves against regret: for the sizes that training may choose among, the regret of a device's tree on unseen
// problems. Prints what docs/performance/selectors.md shows some of: per family and device, sizes that differ by a
// quarter or more, the chosen one in bold.
//
//   size_study [DEVICE ...]     default: all of the evidence that have unseen problems

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/judge/unseen.hpp"
#include "harness/bench/learn/in_family.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/train/train.hpp"
#include "tests/bench/train/evidence_devices.hpp"

namespace espalier::bench::learn {
namespace {

namespace fs = std::filesystem;

/// The first choice of the tree's leaf that supports the problem.
Pick pick_of(const Family& family, const DeviceInfo& device, const Matrix& matrix, const Tree& tree,
             const std::string& problem) {
    const TreeLeaf& leaf = tree.leaves[tree.leaf_of(asked_values(family, matrix.columns, problem))];
    for (const std::size_t c : leaf.ranking) {
        const Choice& candidate = matrix.candidates[c];
        if (!supports(family, device, problem, candidate)) continue;
        const VariantInfo& variant = family.variants()[candidate.variant];
        return {std::string(variant.name), variant.configurations[candidate.configuration].text(), ""};
    }
    return {"", "", "nothing of the leaf runs it"};
}

void study(const std::string& key) {
    const fs::path folder = fs::path(ESPALIER_RESULTS) / key;
    if (!fs::exists(unseen_folder(folder))) return;
    TrainOptions options;
    options.evidence.allow_mixed = options.evidence.allow_disturbed = true;
    const TrainedDevice device =
        train_device(key, {.results = ESPALIER_RESULTS, .output = "none", .evidence = {}}, {}, options);
    const DeviceResults unseen = load_results(unseen_folder(folder), {});
    for (const Trained& of : device.families) {
        const auto records = cases_of(unseen, of.family->name());
        if (records.empty() || of.validation.empty()) continue;
        const Matrix& matrix = of.evidence.matrix;
        const auto of_both_ways = learn_sizes(matrix, matrix.all(), options.learn, of.validation.prunings);
        const std::size_t sizes = of.validation.prunings.size();
        const auto trees = std::span(of_both_ways).subspan(of.validation.part_relaxed ? 0 : sizes, sizes);
        std::string curve;
        std::size_t shown = 0;  // leaves
        for (std::size_t i = 0; i < trees.size(); ++i) {
            const std::size_t leaves = trees[i].leaves.size();
            const bool is_chosen = i == of.validation.smallest, is_apart = shown == 0 || 4 * leaves <= 3 * shown;
            if (!is_chosen && (!is_apart || leaves == trees[of.validation.smallest].leaves.size())) continue;
            const auto pick = [&](const std::string& problem) {
                return pick_of(*of.family, device.device, matrix, trees[i], problem);
            };
            const std::string point = fmt::format("{}: {:.3f}", leaves, grades_of(grade(records, pick)).regret.geomean);
            curve += (curve.empty() ? "" : ", ") + (is_chosen ? "**" + point + "**" : point);
            shown = leaves;
        }
        fmt::print("| {}, {} | {} |\n", of.family->name(), key, curve);
        std::fflush(stdout);
    }
}

}  // namespace
}  // namespace espalier::bench::learn

int main(int count, char** arguments) {
    using namespace espalier::bench;
    std::vector<std::string> keys(arguments + 1, arguments + count);
    if (keys.empty()) keys = evidence_devices(ESPALIER_RESULTS);
    fmt::print("| | leaves: regret on unseen problems |\n| --- | --- |\n");
    for (const std::string& key : keys) learn::study(key);
}
