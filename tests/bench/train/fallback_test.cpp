// What a device without a tree of its own would pay: the library's decisions for every swept device with that device's
// tree taken away, judged by the device's own committed times. Devices that are alike have learned from these: the tree
// that is asked is learned anew without them. The tables of docs/performance/fallbacks.md are made here:
// ESPALIER_PAGES=write writes them, ESPALIER_PAGES=check, as CI runs it, fails where the page has others. Without it
// nothing is asked of the page: results may be somebody's own.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/files/read_file.hpp"
#include "harness/bench/emit/tree_text.hpp"
#include "harness/bench/evidence/evidence.hpp"
#include "harness/bench/records/atomic_file.hpp"
#include "harness/bench/records/stale.hpp"
#include "harness/bench/train/beside.hpp"
#include "harness/bench/train/train.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/loaded_tree.hpp"
#include "kernels/dispatch/similar_trees.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "tests/bench/train/committed_results.hpp"
#include "tests/each_family.hpp"

namespace espalier::bench::learn {
namespace {

/// Geometric mean over the problems of the time of what is decided over the best time there.
struct Cost {
    double regret = 1, baseline = 1;
    std::size_t problems = 0;
    std::size_t unknown = 0;                ///< left out: the decision has no time
    std::size_t untried = 0;                ///< left out: the device was never asked for the variant
    std::map<std::string_view, int> trees;  ///< how many problems each of them decided
};

template <class P>
std::size_t variant_of(const DispatchResult<P>& decision, const Tables<P>& all) {
    return static_cast<std::size_t>(decision.entry - all.registry.data());
}

template <class P>
double log_of(const Matrix& matrix, std::size_t problem, const DispatchResult<P>& decision, const Tables<P>& all) {
    const std::size_t variant = variant_of(decision, all);
    const auto space = decision.entry->variant.space.enumerate();
    const auto configuration =
        static_cast<std::size_t>(std::ranges::find(space, decision.configuration) - space.begin());
    const auto at = std::ranges::find(matrix.candidates, Choice{variant, configuration});
    if (at == matrix.candidates.end()) return NAN;
    const auto candidate = static_cast<std::size_t>(at - matrix.candidates.begin());
    return matrix.measured(problem, candidate) ? matrix.log_slowdown(problem, candidate) : NAN;
}

/// What deciding by these trees costs on a device.
template <class P>
Cost cost_of(const Matrix& matrix, const DeviceInfo& device, const std::vector<Selector<P>>& trees) {
    const Tables<P> known = tables<P>();
    const Tables<P> all{known.family, known.registry, trees};
    Cost cost;
    double sum = 0, baseline = 0;
    for (std::size_t p = 0; p < matrix.rows(); ++p) {
        std::string wrong;
        const auto decision = decide(all, parse_problem<P>(matrix.problems[p], wrong).value(), device, nullptr);
        const double log = decision ? log_of(matrix, p, decision.value(), all) : NAN;
        if (std::isnan(log)) {
            const bool tried = !decision || std::ranges::any_of(matrix.candidates, [&](const Choice& candidate) {
                return candidate.variant == variant_of(decision.value(), all);
            });
            ++(tried ? cost.unknown : cost.untried);
            continue;
        }
        sum += log, baseline += matrix.log_slowdown(p, matrix.baseline);
        ++cost.problems;
        if (decision.value().tree) ++cost.trees[decision.value().tree->device_key];
    }
    const auto count = static_cast<double>(std::max<std::size_t>(cost.problems, 1));
    cost.regret = std::exp(sum / count), cost.baseline = std::exp(baseline / count);
    return cost;
}

std::string in_words(const Cost& cost) {
    std::string text;
    for (const auto& [key, problems] : cost.trees)
        text.append(text.empty() ? "" : ", ").append(key).append(" ").append(std::to_string(problems));
    return text;
}

const std::vector<std::string>& swept_cpus() {
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> found;
        for (const std::string& key : evidence_devices())
            if (load_device(std::filesystem::path(ESPALIER_RESULTS) / key).kind == DeviceKind::cpu)
                found.push_back(key);
        return found;
    }();
    return keys;
}

/// Calls `judge(key, name, device, matrix, trees of other devices)` for every family of every swept CPU.
template <class F>
void for_each_swept_cpu(F&& judge) {
    for (const std::string& key : swept_cpus()) {
        const DeviceResults& results = committed_results(key);
        for_each_family([&]<class P>(const P*, const std::string& name) {
            const auto records = cases_of(results, name);
            if (records.empty()) return;
            const Evidence evidence = read_evidence(*find_family(name), results.device, records,
                                                    {.allow_partial = true, .allow_mixed = true});
            std::vector<Selector<P>> others;
            for (const Selector<P>& tree : tables<P>().selectors)
                if (tree.device_key != key && is_evidence(ESPALIER_RESULTS, std::string(tree.device_key)))
                    others.push_back(tree);
            judge(key, name, results.device, evidence.matrix, others);
        });
    }
}

/// A tree that was learned anew without what the device of this key measured.
template <class P>
std::unique_ptr<LoadedTreeOf<P>> learned_without(const std::string& key, const std::string& name,
                                                 const Selector<P>& tree) {
    const std::string of(tree.device_key);
    const auto file = std::filesystem::path(ESPALIER_COMMITTED_SELECTORS) / name / (of + ".tree");
    TrainOptions options{.evaluate = false};
    learn_as(read_file(file).value(), options.learn);
    options.evidence = {.allow_partial = true, .allow_mixed = true};
    options.evidence.known_stale = load_known_stale(std::filesystem::path(ESPALIER_RESULTS) / of);
    std::vector<OtherResults> others;
    for (const std::string& other : swept_cpus()) {
        if (other == key || other == of) continue;
        const DeviceResults& results = committed_results(other);
        if (auto cases = cases_of(results, name); !cases.empty()) others.push_back({results.device, std::move(cases)});
    }
    const DeviceResults& own = committed_results(of);
    const Trained trained = train(*find_family(name), own.device, cases_of(own, name), options, others);
    return tree_of<P>(read_tree(tree_text(trained, own.device)), tables<P>().registry);
}

/// The trees that a device would be asked which has measured nothing: `learned` keeps what stands in for the first one.
/// Others that have seen its times are left out.
template <class P>
std::vector<Selector<P>> unaware_of(const DeviceInfo& device, const std::string& name,
                                    const std::vector<Selector<P>>& all, std::unique_ptr<LoadedTreeOf<P>>& learned) {
    const auto is_aware = [&](const Selector<P>& tree) { return alike(traits_of(device), tree.device); };
    const Selector<P>* const first = SimilarTrees<P>(all, device).next();
    if (!first || !is_aware(*first)) return all;
    learned = learned_without(device.key, name, *first);
    std::vector<Selector<P>> unaware{learned->selector};
    for (const Selector<P>& tree : all)
        if (!is_aware(tree)) unaware.push_back(tree);
    return unaware;
}

/// Of the instruction sets that keys name, a richer one's index is greater.
std::size_t isa_in(std::string_view key) {
    constexpr std::array kNames{"-generic-", "-avx2-", "-avx512-", "-avx512vnni-"};
    const auto named = [&](const char* name) { return key.find(name) != std::string_view::npos; };
    return static_cast<std::size_t>(std::ranges::find_if(kNames, named) - kNames.begin());
}

/// The microarchitecture that a key names.
std::string_view design_in(std::string_view key) {
    constexpr std::string_view kKind = "cpu-";
    return key.substr(kKind.size(), std::min(key.find("-avx"), key.find("-generic")) - kKind.size());
}

/// Another design's tree knows which variants are fast, but not which blocks fit the caches best. One of a poorer
/// instruction set lacks the fastest variants; the leaves of a richer one's were made for variants that the CPU has not
/// got (knn, AVX-512's on AVX2: 1.260; smallest_k, AVX2's without AVX2: 1.236).
double most_cost(const std::string& key, const Cost& cost) {
    const auto is_poorer = [&](const auto& tree) { return isa_in(tree.first) < isa_in(key); };
    if (std::ranges::all_of(cost.trees, is_poorer)) return cost.baseline;
    const bool own_design =
        std::ranges::all_of(cost.trees, [&](const auto& tree) { return design_in(tree.first) == design_in(key); });
    const bool richer =
        std::ranges::any_of(cost.trees, [&](const auto& tree) { return isa_in(tree.first) > isa_in(key); });
    return richer ? 1.30 : own_design ? 1.10 : 1.20;
}

std::string without_kind(std::string_view key) { return std::string(key.substr(std::string_view("cpu-").size())); }

/// Cells in Markdown, their rows and columns in the order in which they come.
class PageTable {
public:
    explicit PageTable(std::string corner) : corner_(std::move(corner)) {}

    void set(const std::string& row, const std::string& column, std::string cell) {
        place(rows_, row), place(columns_, column);
        cells_[{row, column}] = std::move(cell);
    }

    /// A cell that was not set is `missing`.
    [[nodiscard]] std::string text(const std::string& missing) const {
        std::string text = "| " + corner_ + (corner_.empty() ? "|" : " |"), rule = "| --- |";
        for (const std::string& column : columns_) text += " " + column + " |", rule += " ---: |";
        text += "\n" + rule + "\n";
        for (const std::string& row : rows_) {
            text += "| " + row + " |";
            for (const std::string& column : columns_) {
                const auto at = cells_.find({row, column});
                text += " " + (at == cells_.end() ? missing : at->second) + " |";
            }
            text += "\n";
        }
        return text;
    }

private:
    static void place(std::vector<std::string>& names, const std::string& name) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }

    std::string corner_;
    std::vector<std::string> rows_, columns_;
    std::map<std::pair<std::string, std::string>, std::string> cells_;
};

struct Judged {
    std::string cpu, family;
    double regret, baseline;
};

/// Their least and their most, as a cell.
std::string range_of(const std::vector<double>& values) {
    const auto [least, most] = std::ranges::minmax(values);
    return values.size() == 1 ? fmt::format("{:.1f}", least) : fmt::format("{:.1f}–{:.1f}", least, most);
}

/// A line for each CPU, a column for each family in which some CPU pays for its missing tree; the last column says what
/// the baselines of all families alone would cost.
PageTable table_of(const std::vector<Judged>& costs) {
    const auto is_paid_for = [&](const std::string& family) {
        return std::ranges::any_of(costs, [&](const Judged& of) { return of.family == family && of.regret >= 1.0005; });
    };
    PageTable table("CPU without its tree");
    for (const Judged& of : costs)
        if (is_paid_for(of.family)) table.set(of.cpu, of.family, fmt::format("{:.3f}", of.regret));
    for (const Judged& of : costs) {
        std::vector<double> baselines;
        for (const Judged& other : costs)
            if (other.cpu == of.cpu) baselines.push_back(other.baseline);
        table.set(of.cpu, "baselines alone", range_of(baselines));
    }
    return table;
}

void keep_on_page(const std::string& name, const std::string& table) {
    const char* const wanted = std::getenv("ESPALIER_PAGES");
    if (!wanted) return;
    const auto page = std::filesystem::path(ESPALIER_RESULTS).parent_path() / "docs/performance/fallbacks.md";
    const std::string text = read_file(page).value_or("");
    const std::string begin = fmt::format("<!-- begin {}: tests/bench/train/fallback_test.cpp -->\n\n", name);
    const std::size_t from = text.find(begin), to = text.find(fmt::format("\n<!-- end {} -->", name));
    ASSERT_TRUE(from < to && to != std::string::npos) << page << " has no place for " << name;
    const std::size_t first = from + begin.size();
    if (wanted == std::string_view("write"))
        write_file_atomically(page, text.substr(0, first) + table + text.substr(to));
    else
        EXPECT_EQ(text.substr(first, to - first), table) << "to write it: ESPALIER_PAGES=write ctest -R fallback_test";
}

TEST(Fallback, CostsAtMostATenthOnEverySweptCpu) {
    int judged = 0;
    std::vector<Judged> costs;
    for_each_swept_cpu([&]<class P>(const std::string& key, const std::string& name, const DeviceInfo& device,
                                    const Matrix& matrix, const std::vector<Selector<P>>& others) {
        std::unique_ptr<LoadedTreeOf<P>> learned;
        const Cost cost = cost_of(matrix, device, unaware_of(device, name, others, learned));
        std::printf("%-34s %-15s %4zu (%zu of variants never tried) %6.3f %7.3f  %s\n", key.c_str(), name.c_str(),
                    cost.problems, cost.untried, cost.regret, cost.baseline, in_words(cost).c_str());
        costs.push_back({without_kind(key), name, cost.regret, cost.baseline});
        EXPECT_LE(cost.regret, most_cost(key, cost)) << name << " on " << key;
        EXPECT_LE(10 * cost.unknown, matrix.rows()) << name << " on " << key << ": too few are known";
        EXPECT_GE(2 * cost.problems, matrix.rows()) << name << " on " << key << ": too many are given to untried ones";
        ++judged;
    });
    if (judged == 0) GTEST_SKIP() << "no CPU's results are committed";
    keep_on_page("fallbacks", table_of(costs).text("–"));
}

TEST(Fallback, NoOtherCpusTreeAloneIsWorseThanNone) {
    for_each_swept_cpu([&]<class P>(const std::string& key, const std::string& name, const DeviceInfo& device,
                                    const Matrix& matrix, const std::vector<Selector<P>>& others) {
        for (const Selector<P>& tree : others) {
            if (tree.device.kind != DeviceKind::cpu) continue;
            const Cost cost = cost_of<P>(matrix, device, {tree});
            std::printf("%-34s %-15s %-34s %6.3f\n", key.c_str(), name.c_str(), std::string(tree.device_key).c_str(),
                        cost.regret);
            // Where a family has one variant for CPUs, the baseline is as fast as any and a tree can only lose: the one
            // of two threads costs 1.15 on sixteen (knn, whose chunks grow with the threads).
            EXPECT_LT(cost.regret, std::max(cost.baseline * 1.10, 1.2)) << "worse than no tree at all";
        }
    });
}

}  // namespace
}  // namespace espalier::bench::learn
