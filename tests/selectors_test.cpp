// The committed selectors, compiled, against trees learned anew in memory from the committed results: the same leaf
// and the same ranking for every measured problem and for thousands around the thresholds.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "harness/records/results.hpp"
#include "harness/select/emit.hpp"
#include "harness/select/learn.hpp"
#include "harness/select/training.hpp"
#include "kernels/families.hpp"

namespace espalier::select {
namespace {

/// For every axis of the key the values to draw from: the measured ones, either side of every threshold,
/// and, where the axis is a size, numbers in between.
std::vector<std::vector<double>> pools_of(const Family& family, const Matrix& matrix, const Tree& tree) {
    std::vector<std::set<double>> values(matrix.columns.size());
    for (std::size_t p = 0; p < matrix.rows(); ++p)
        for (std::size_t c = 0; c < matrix.columns.size(); ++c) values[c].insert(matrix.value(p, c));
    for (const Node& node : tree.nodes)
        if (node.leaf < 0 && !node.test.category && !matrix.columns[node.test.column].derived)
            for (const double step : {0, 1}) values[node.test.column].insert(std::floor(node.test.value) + step);
    std::vector<std::vector<double>> pools;
    std::mt19937_64 random(3);
    for (std::size_t c = 0; c < values.size(); ++c) {
        auto& pool = pools.emplace_back(values[c].begin(), values[c].end());
        if (family.features()[c].derived || !family.features()[c].categories.empty() || pool.size() < 5) continue;
        std::uniform_real_distribution<double> between(std::log(pool.front() + 1), std::log(pool.back() + 1));
        for (int i = 0; i < 50; ++i) pool.push_back(std::floor(std::exp(between(random))));
    }
    return pools;
}

void compare(const Family& family, const DeviceInfo& device, const Matrix& matrix, const Tree& tree,
             const std::string& problem) {
    const auto compiled = explain(family.name(), problem, device, nullptr);
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    const std::size_t leaf = tree.leaf_of(family.feature_values(problem));
    ASSERT_EQ(compiled.value().tree, Explanation::Tree::exact);
    ASSERT_EQ(compiled.value().leaf, static_cast<int>(leaf)) << problem;
    EXPECT_EQ(compiled.value().path, path_to_leaf(family, tree, leaf));
    const auto& ranking = tree.leaves[leaf].ranking;
    ASSERT_EQ(compiled.value().ranking.size(), ranking.size());
    for (std::size_t i = 0; i < ranking.size(); ++i) {
        const Candidate& candidate = matrix.candidates[ranking[i]];
        const VariantInfo& variant = family.variants()[candidate.variant];
        EXPECT_EQ(compiled.value().ranking[i].variant, variant.name);
        EXPECT_EQ(compiled.value().ranking[i].configuration, variant.configurations[candidate.configuration].text());
    }
}

TEST(CommittedSelectors, DecideAsTheTreesOfTheCommittedResults) {
    int compared = 0;
    for (const std::string& key : devices_with_results(ESPALIER_RESULTS)) {
        const DeviceResults results = load_results(std::filesystem::path(ESPALIER_RESULTS) / key);
        for (const Family* family : families()) {
            std::vector<CaseRecord> records;
            for (const CaseRecord& record : results.cases)
                if (record.family == family->name()) records.push_back(record);
            if (records.empty()) continue;
            SCOPED_TRACE(key + " " + std::string(family->name()));
            const Evidence evidence =
                read_evidence(*family, results.device, records, {.allow_partial = true, .allow_mixed = true});
            const Tree tree = learn(evidence.matrix, evidence.matrix.all());
            for (const std::string& problem : evidence.matrix.problems)
                compare(*family, results.device, evidence.matrix, tree, problem);
            const auto pools = pools_of(*family, evidence.matrix, tree);
            std::mt19937_64 random(5);
            for (int i = 0; i < 3000 && !HasFailure(); ++i) {
                std::vector<double> values;
                for (const auto& pool : pools) values.push_back(pool[random() % pool.size()]);
                const std::string problem = family->key_of(values);
                if (!family->supports(family->baseline(results.device.kind), problem, {}, results.device)) continue;
                compare(*family, results.device, evidence.matrix, tree, problem);
            }
            ++compared;
        }
    }
    if (compared == 0) GTEST_SKIP() << "no results are committed";
}

}  // namespace
}  // namespace espalier::select
