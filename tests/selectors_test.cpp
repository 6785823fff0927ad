// The committed selectors, compiled, against trees learned anew in memory from the committed results: the same leaf
// and the same ranking for every measured problem and for thousands around the thresholds.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>

#include "harness/emit/emit.hpp"
#include "harness/learn/in_family.hpp"
#include "harness/records/stale.hpp"
#include "harness/train/train.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "tests/learned.hpp"
#include "tests/temporary_folder.hpp"

namespace espalier::bench::learn {
namespace {

namespace fs = std::filesystem;

/// For every axis of the key the values that were measured; empty for derived features.
std::vector<std::vector<double>> measured_values(const Family& family, const Matrix& matrix) {
    std::vector<std::vector<double>> pools;
    for (std::size_t c = 0; c < family.features().size(); ++c) {  // the columns after them are the learner's
        std::set<double> values;
        for (std::size_t p = 0; p < matrix.rows() && !family.features()[c].derived; ++p)
            values.insert(matrix.value(p, c));
        pools.emplace_back(values.begin(), values.end());
    }
    return pools;
}

/// Whether the library may take one of the leaf's choices: a baseline behind them stands for nothing else, and another
/// tree is asked first.
bool has_choice(const Family& family, const DeviceInfo& device, const Matrix& matrix, const TreeLeaf& leaf,
                const std::string& problem) {
    for (std::size_t i = 0; i < std::max<std::size_t>(leaf.ranking.size(), 2) - 1; ++i) {
        const Choice& candidate = matrix.candidates[leaf.ranking[i]];
        const auto& configuration = family.variants()[candidate.variant].configurations[candidate.configuration];
        if (family.supports(candidate.variant, problem, configuration, device)) return true;
    }
    return false;
}

void compare(const Family& family, const DeviceInfo& device, const Matrix& matrix, const Tree& tree,
             const std::string& problem) {
    const auto compiled = explain(family.name(), problem, device, nullptr);
    if (!compiled && compiled.error().code == ErrorCode::invalid_argument) return;  // what calls refuse, too
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    const std::size_t leaf = tree.leaf_of(values_of(family, problem));
    if (!has_choice(family, device, matrix, tree.leaves[leaf], problem)) return;
    ASSERT_EQ(compiled.value().tree, Explanation::Tree::exact) << problem;
    ASSERT_EQ(compiled.value().leaf, static_cast<int>(leaf)) << problem;
    EXPECT_EQ(compiled.value().path, path_to_leaf(family, tree, leaf));
    const auto& ranking = tree.leaves[leaf].ranking;
    ASSERT_EQ(compiled.value().ranking.size(), ranking.size());
    for (std::size_t i = 0; i < ranking.size(); ++i) {
        const Choice& candidate = matrix.candidates[ranking[i]];
        const VariantInfo& variant = family.variants()[candidate.variant];
        EXPECT_EQ(compiled.value().ranking[i].variant, variant.name);
        EXPECT_EQ(compiled.value().ranking[i].configuration, variant.configurations[candidate.configuration].text());
    }
}

/// Compares at random problems, and on both sides of the boundary wherever moving one number changes the leaf.
void compare_boundaries(const Family& family, const DeviceInfo& device, const Matrix& matrix, const Tree& tree) {
    const auto pools = measured_values(family, matrix);
    std::mt19937_64 random(5);
    const auto leaf_of = [&](const std::vector<double>& values) {
        return tree.leaf_of(values_of(family, family.key_of(values)));
    };
    const auto check = [&](const std::vector<double>& values) {
        const std::string problem = family.key_of(values);
        const std::size_t baseline = family.baseline(device.kind);
        if (family.supports(baseline, problem, family.variants()[baseline].configurations.front(), device))
            compare(family, device, matrix, tree, problem);
    };
    for (int i = 0; i < 1000 && !testing::Test::HasFailure(); ++i) {
        std::vector<double> from;
        for (const auto& pool : pools) from.push_back(pool.empty() ? 0 : pool[random() % pool.size()]);
        check(from);
        const std::size_t axis = random() % pools.size();
        if (pools[axis].size() < 2 || !family.features()[axis].categories.empty()) continue;
        std::vector<double> to = from;
        to[axis] = pools[axis][random() % pools[axis].size()];
        if (leaf_of(from) == leaf_of(to)) continue;
        while (std::abs(from[axis] - to[axis]) > 1) {
            std::vector<double> middle = from;
            middle[axis] = std::floor((from[axis] + to[axis]) / 2);
            (leaf_of(middle) == leaf_of(from) ? from : to) = middle;
        }
        check(from);
        check(to);
    }
}

TEST(CommittedSelectors, DecideAsTheTreesOfTheCommittedResults) {
    int compared = 0;
    for (const std::string& key : compared_devices()) {
        const DeviceInfo& device = committed_results(key).device;
        for (const Family* family : families()) {
            SCOPED_TRACE(key + " " + std::string(family->name()));
            const Trained* of = learned(key, *family);
            if (!of) continue;
            for (const std::string& problem : of->evidence.matrix.problems)
                compare(*family, device, of->evidence.matrix, of->tree, problem);
            compare_boundaries(*family, device, of->evidence.matrix, of->tree);
            ++compared;
        }
    }
    if (compared == 0) GTEST_SKIP() << "no results are committed";
}

/// Somewhere in the committed tree, which `selectors_are_what_the_results_give` holds against the results.
bool ranked_by_the_tree(const fs::path& folder, const StaleVariant& stale) {
    const TreeFile tree = read_tree(read_bytes((folder / (stale.family + ".tree.json")).string()));
    return std::ranges::any_of(tree.nodes, [&](const TreeFile::Node& node) {
        return std::ranges::count(node.ranking, stale.variant, &TreeFile::Choice::variant) > 0;
    });
}

// A tree that ranks a variant by times of other source than today's may be wrong: it is swept again, or somebody has
// said in results/<device-key>/known_stale.json why the times hold for this very source.
TEST(CommittedSelectors, RestOnEvidenceOfTodaysSources) {
    for (const std::string& key : evidence_devices()) {
        const fs::path folder = fs::path(ESPALIER_RESULTS) / key;
        const KnownStaleList known = load_known_stale(folder);
        const std::vector<StaleVariant> all = find_stale(committed_results(key).cases);
        for (const StaleVariant& stale : all)
            EXPECT_TRUE(is_known(known, stale) || !ranked_by_the_tree(folder, stale))
                << key << ": " << describe(stale) << "\nor enter \"" << stale.name() << "\": {\"source_id\": \""
                << stale.source_id << "\", \"reason\": ...}";
        for (const auto& [name, unused] : known)
            EXPECT_TRUE(std::ranges::any_of(all, [&](const StaleVariant& s) { return s.name() == name; }))
                << key << ": " << name << " is not stale: remove it from known_stale.json";
    }
}

}  // namespace
}  // namespace espalier::bench::learn
