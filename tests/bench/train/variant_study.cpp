// What variants and trees are worth: which few variants do nearly as well as all, what trees would be without some, and
// what the tree of each device costs on the others. Prints what docs/performance/selectors.md says of it, and writes
// nothing.
//
//   variant_study --help

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "harness/bench/train/train.hpp"
#include "tests/bench/train/ablation.hpp"
#include "tests/bench/train/transfer.hpp"

namespace espalier::bench::learn {
namespace {

/// A set is as good as all variants when the virtual best of it loses no more than this.
constexpr double kGoodEnough = 1.01;

struct Questions {
    std::vector<std::string> without, only;  ///< variants by name
    int ship = -1;                           ///< the largest set to look for; -1: none
    bool transfer = false;
};

std::string names_of(const VariantSet& set, const Family& family) {
    std::vector<std::string_view> names;
    for (const std::size_t v : set) names.push_back(family.variants()[v].name);
    return fmt::format("{}", fmt::join(names, ", "));
}

VariantSet named(const std::vector<std::string>& names, const Trained& trained) {
    VariantSet found;
    for (const std::size_t v : variants_of(trained))
        if (std::ranges::count(names, trained.family->variants()[v].name)) found.insert(v);
    return found;
}

void print_change(const Trained& trained, const std::string& what, const VariantSet& kept) {
    const Ablation result = ablate(trained, kept);
    fmt::print("{}: virtual best 1.000 -> {:.3f}, tree {:.3f} -> {:.3f}\n{}", what, result.virtual_best,
               trained.evaluation.training.geomean, result.tree, describe(result.diff));
}

void print_changes(const Trained& trained, const Questions& questions, const std::string& title) {
    const VariantSet all = variants_of(trained);
    if (const VariantSet gone = named(questions.without, trained); !gone.empty()) {
        VariantSet kept;
        std::ranges::set_difference(all, gone, std::inserter(kept, kept.end()));
        print_change(trained, title + " without " + names_of(gone, *trained.family), kept);
    }
    if (const VariantSet kept = named(questions.only, trained); !kept.empty())
        print_change(trained, title + " only " + names_of(kept, *trained.family), kept);
}

std::size_t problems_won(const Matrix& matrix, std::size_t variant) {
    const auto won = [&](std::size_t p) {
        for (std::size_t c = 0; c < matrix.candidates.size(); ++c)
            if (matrix.candidates[c].variant == variant && matrix.measured(p, c) && matrix.log_slowdown(p, c) == 0)
                return true;
        return false;
    };
    return static_cast<std::size_t>(std::ranges::count_if(matrix.all(), won));
}

void print_sets(const Trained& trained, std::size_t most, const std::string& title) {
    const Family& family = *trained.family;
    const VariantSet all = variants_of(trained);
    fmt::print("{}: the best set of every size, the baseline among them\n", title);
    fmt::print("  {:>8}  {:>14}  {:>7}  {}\n", "variants", "virtual best", "tree", "set");
    bool found = false;
    for (std::size_t size = 0; size <= std::min(most, all.size() - 1); ++size) {
        const Ablation set = ablate(trained, best_set(trained, size));
        const bool enough = !found && set.virtual_best <= kGoodEnough;
        found |= enough;
        fmt::print("  {:>8}  {:>14.3f}  {:>7.3f}  {}{}\n", set.kept.size(), set.virtual_best, set.tree,
                   names_of(set.kept, family), enough ? "  <- the smallest within 1%" : "");
    }
    const Matrix& matrix = trained.evidence.matrix;
    std::vector<std::pair<std::size_t, Ablation>> worth;  // the most valuable first
    for (const std::size_t v : all) {
        if (v == matrix.candidates[matrix.baseline].variant) continue;
        VariantSet others = all;
        others.erase(v);
        worth.emplace_back(v, ablate(trained, others));
    }
    std::ranges::stable_sort(worth, std::greater(), [](const auto& pair) { return pair.second.virtual_best; });
    fmt::print("  {:>8}  {:>14}  {:>7}  {}\n", "best for", "virtual best", "tree", "without");
    for (const auto& [v, without] : worth)
        fmt::print("  {:>8}  {:>14.3f}  {:>7.3f}  {}\n", problems_won(matrix, v), without.virtual_best, without.tree,
                   family.variants()[v].name);
}

void print_transfer(const std::vector<TrainedDevice>& trained) {
    fmt::print("{:<16} {:<34}  regret with the tree of (* the one it would fall back on)\n", "family", "device");
    for (const TransferRow& row : transfer(trained)) {
        std::vector<std::string> cells;
        for (const TransferCell& cell : row.cells)
            cells.push_back(fmt::format("{}{} {:.3f}", cell.fallback ? "*" : "", cell.tree, cell.regret) +
                            (cell.unknown ? fmt::format(" ({} problems without a time)", cell.unknown) : ""));
        fmt::print("{:<16} {:<34}  {}\n", row.family, row.device, fmt::join(cells, ", "));
    }
}

}  // namespace
}  // namespace espalier::bench::learn

int main(int count, char** arguments) {
    using namespace espalier::bench::learn;
    Questions questions;
    std::string results = ESPALIER_RESULTS;
    std::vector<std::string> devices, families;
    CLI::App program("Says what variants and trees are worth");
    program.add_option("--results", results, "a folder per device")->capture_default_str();
    program.add_option("--device", devices, "keys; default: all with results")->delimiter(',');
    program.add_option("--family", families, "default: all that were measured")->delimiter(',');
    program.add_option("--without", questions.without, "trees without these variants")->delimiter(',');
    program.add_option("--only", questions.only, "trees with these and the baseline alone")->delimiter(',');
    program.add_option("--ship", questions.ship, "the best sets of up to so many, and what each variant is worth");
    program.add_flag(
        "--transfer", questions.transfer,
        "trees on the data of the other devices of their kind; those of devices that are alike have seen it");
    CLI11_PARSE(program, count, arguments)
    if (devices.empty()) devices = devices_with_results(results);
    std::vector<TrainedDevice> trained;
    for (const std::string& key : devices)
        trained.push_back(train_device(key, {.results = results, .output = "none", .evidence = {}}, families, {}));
    for (const TrainedDevice& device : trained)
        for (const Trained& family : device.families) {
            const std::string title = fmt::format("{} {}", device.device.key, family.family->name());
            print_changes(family, questions, title);
            if (questions.ship >= 0) print_sets(family, static_cast<std::size_t>(questions.ship), title);
        }
    if (questions.transfer) print_transfer(trained);
}
