// The file of a tree and the tables that the build makes of it: they compile (this program contains them), decide as
// the tree in memory does, depend on nothing but the data, and cannot be made to say anything by them.

#include "harness/bench/emit/tree_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "harness/bench/learn/in_family.hpp"
#include "harness/bench/learn/ranking.hpp"
#include "harness/bench/train/train.hpp"
#include "kernels/core/selector.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "kernels/dispatch/tree_path.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/names.hpp"
#include "kernels/problems/synthetic.hpp"
#include "kernels/tables/tree_tables.hpp"
#include "registries/synthetic/ids.hpp"
#include "registries/synthetic/selectors.hpp"
#include "tests/bench/synthetic/family.hpp"
#include "tests/support/trials.hpp"

namespace espalier::bench::learn {
namespace {

std::vector<CaseRecord> sweep() { return synthetic::records(synthetic::regions, synthetic::problems()); }

/// A part of it, for what is asked again and again.
std::vector<CaseRecord> small_sweep() {
    const auto all = synthetic::problems();
    std::vector<std::string> some;
    for (std::size_t i = 0; i < all.size(); i += 8) some.push_back(all[i]);
    return synthetic::records(synthetic::regions, some);
}

Trained train_on(const std::vector<CaseRecord>& records, const DeviceInfo& device = synthetic::device(),
                 const TrainOptions& options = {.evaluate = false}) {
    return train(synthetic::family(), device, records, options);
}

/// The file alone, without the checks that `train` adds.
std::string text_of(const std::vector<CaseRecord>& records, const DeviceInfo& device = synthetic::device()) {
    Trained trained{.family = &synthetic::family(), .evidence = read_evidence(synthetic::family(), device, records)};
    trained.tree = learn(trained.evidence.matrix, trained.evidence.matrix.all());
    return tree_text(trained, device);
}

/// Compiled from what emit_synthetic wrote.
Selector<synthetic::Problem> compiled(std::string_view device_key) {
    for (const auto& selector : synthetic::selectors_in_this_program())
        if (selector.device_key == device_key) return selector;
    ADD_FAILURE() << "no tree of " << device_key;
    return {};
}

TEST(TreeText, CompiledSelectorDecidesAsTheTree) {
    const Trained trained = train_on(sweep());
    ASSERT_GE(trained.tree.leaves.size(), 4U);
    const auto selector = compiled("cpu-test-2t");
    EXPECT_EQ(selector.device_key, "cpu-test-2t");
    EXPECT_EQ(selector.device.kind, DeviceKind::cpu);
    EXPECT_EQ(selector.device.threads, 2);
    EXPECT_EQ(selector.device.isa, Isa::avx2);
    EXPECT_EQ(selector.leaves.size(), trained.tree.leaves.size());
    EXPECT_EQ(selector.data_sha256, trained.evidence.data_sha256);

    const Matrix& matrix = trained.evidence.matrix;
    const auto variants = synthetic::family().variants();
    std::mt19937_64 random(1);
    std::vector<bool> reached(trained.tree.leaves.size());
    for (int i = 0; i < 100'000; ++i) {
        const synthetic::Problem problem{static_cast<std::int64_t>(random() % (1ULL << (random() % 34))),
                                         static_cast<std::int64_t>(random() % (1ULL << (random() % 12))),
                                         static_cast<synthetic::Order>(random() % 3)};
        const Leaf<synthetic::Problem>& leaf = selector.leaf_of(problem);
        const auto expected = trained.tree.leaf_of(values_of(synthetic::family(), problem_key(problem)));
        ASSERT_EQ(static_cast<std::size_t>(leaf.id), expected) << problem_key(problem);
        if (reached[expected]) continue;
        reached[expected] = true;
        const TreeLeaf& known = trained.tree.leaves[expected];
        EXPECT_EQ(static_cast<std::size_t>(leaf.problems), known.rows.size());
        EXPECT_NEAR(leaf.regret, known.regret, 0.00006);
        EXPECT_EQ(path_to(selector, leaf), path_to_leaf(synthetic::family(), trained.tree, expected));
        ASSERT_EQ(leaf.ranking.size(), known.ranking.size());
        for (std::size_t c = 0; c < known.ranking.size(); ++c) {
            const auto [variant, configuration] = matrix.candidates[known.ranking[c]];
            EXPECT_EQ(static_cast<std::size_t>(leaf.ranking[c].variant), variant);
            EXPECT_EQ(leaf.ranking[c].configuration, variants[variant].configurations[configuration]);
        }
        EXPECT_EQ(leaf.ranking.back().variant, synthetic::VariantId::base);
    }
    EXPECT_TRUE(std::all_of(reached.begin(), reached.end(), [](bool r) { return r; }));
}

// Sizes of 0, products beyond 64 bits, and wherever a ratio or product is next to its threshold.
TEST(TreeText, CompiledPairsDecideAsTheTree) {
    const Matrix matrix = read_evidence(synthetic::family(), synthetic::device(), sweep()).matrix;
    const Tree tree = synthetic::tree_of_pairs(matrix);
    const auto selector = compiled("cpu-pairs");
    std::mt19937_64 random(2);
    std::vector<int> reached(tree.leaves.size());
    const auto compare = [&](std::int64_t rows, std::int64_t columns) {
        const synthetic::Problem problem{rows, columns, synthetic::Order::any};
        std::vector<double> features;
        for (const auto& feature : synthetic::Problem::features()) features.push_back(feature.value(problem));
        const std::size_t expected = tree.leaf_of(values_of(matrix.columns, features));
        ASSERT_EQ(static_cast<std::size_t>(selector.leaf_of(problem).id), expected) << rows << " x " << columns;
        ++reached[expected];
    };
    for (int i = 0; i < 100'000 && !HasFailure(); ++i) {
        const auto rows = static_cast<std::int64_t>(random() >> (1 + random() % 63));
        const auto columns = static_cast<std::int64_t>(random() >> (1 + random() % 63));
        const auto nudge = static_cast<std::int64_t>(random() % 5) - 2;
        compare(rows / 3, columns / 3);
        if (columns < std::int64_t{1} << 60) compare(std::max<std::int64_t>(0, 3 * (columns / 10) + nudge), columns);
        if (columns > 0) compare(std::max<std::int64_t>(0, 2000 / columns + nudge), columns);
        if (columns > 0) compare(std::max<std::int64_t>(0, 3'000'000'000'000'000 / columns + nudge), columns);
    }
    compare(0, 0);
    for (const int count : reached) EXPECT_GT(count, 1000);
}

TEST(TreeText, PairsReadAsTheyAre) {
    Trained trained{.family = &synthetic::family(),
                    .evidence = read_evidence(synthetic::family(), synthetic::device(), sweep())};
    trained.tree = synthetic::tree_of_pairs(trained.evidence.matrix);
    const std::string text = tree_text(trained, synthetic::device());
    EXPECT_NE(text.find(R"({"id": 0, "feature": "rows / columns", "threshold": 0.3, "left": 1, "right": 4})"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(R"("feature": "rows * columns", "threshold": 2000.0, "left": 5, "right": 6})"),
              std::string::npos)
        << text;
    EXPECT_EQ(path_to_leaf(synthetic::family(), trained.tree, 2), "rows / columns > 0.3 and rows * columns <= 2000");
}

TEST(TreeText, FindsTheKnownRegions) {
    const Trained trained = train_on(sweep(), synthetic::device(), {.evaluate = true});
    EXPECT_LT(trained.evaluation.training.geomean, 1.015);
    EXPECT_LT(trained.evaluation.held_out.regret.geomean, 1.1);
    EXPECT_GT(trained.evaluation.best_single, 1.2);
    EXPECT_EQ(tree_text(trained, synthetic::device()).find("peer_other"), std::string::npos);
}

TEST(TreeText, SameDataSameBytes) {
    auto records = sweep();
    const std::string source = text_of(records);
    for (unsigned seed = 0; seed < 5; ++seed) {
        std::shuffle(records.begin(), records.end(), std::mt19937_64(seed));
        EXPECT_EQ(text_of(records), source);
    }
}

const std::vector<std::string> kHostile{"\"; int x = 1; //",
                                        "*/ evil /*",
                                        "\n#include \"/etc/passwd\"\n",
                                        "?\?/\nint x;",
                                        "\\",
                                        "\\\nint x;",
                                        "</script><script>",
                                        "{{{{",
                                        "}}}}",
                                        "{0}",
                                        "%s%n",
                                        "../../../x",
                                        "\x1b[2J",
                                        std::string("a\0b", 3),
                                        std::string(100'000, 'a')};

TEST(TreeText, HostileTextInResultsChangesNoByte) {
    const auto clean = small_sweep();
    const std::string source = text_of(clean);
    for (const std::string& text : kHostile) {
        auto records = clean;
        for (CaseRecord& r : records) {
            r.counters_reason = r.reason = text;
            r.role = text;
            r.counters.emplace_back(text, 1);
            r.features.emplace_back(text, 1);
        }
        CaseRecord stranger = records.front();
        stranger.variant = text;
        records.push_back(stranger);
        stranger = records.front();
        stranger.configuration = text;
        records.push_back(stranger);
        EXPECT_EQ(text_of(records), source) << text;
    }
}

// What is compiled of it says nothing of them at all.
TEST(TreeText, HostileDeviceAndDriverStayText) {
    const auto clean = small_sweep();
    const std::string plain = text_of(clean);
    const auto tables_of = [](const std::string& text) {
        const TreeFile tree = read_tree(text);
        return tables::tree_tables(tables::source_of<synthetic::Problem>("synthetic", "kernels/problems/synthetic.hpp"),
                                   {&tree, 1});
    };
    for (const std::string& text : kHostile) {
        auto records = clean;
        for (CaseRecord& r : records) r.provenance.driver = r.provenance.runtime = text;
        DeviceInfo device = synthetic::device();
        device.name = text;
        const std::string written = text_of(records, device);
        EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), std::count(plain.begin(), plain.end(), '\n'))
            << text;
        EXPECT_TRUE(std::ranges::all_of(written, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); })) << text;
        EXPECT_EQ(tables_of(written), tables_of(plain)) << text;
    }
}

TEST(TreeText, RefusesKeysAndProblemsThatAreNone) {
    for (const std::string& text : kHostile) {
        auto records = small_sweep();
        DeviceInfo device = synthetic::device();
        device.key = text;
        for (CaseRecord& r : records) r.provenance.device_key = text;
        EXPECT_THROW(static_cast<void>(text_of(records, device)), BadEvidence) << text;

        records = small_sweep();
        records.front().problem = text;
        EXPECT_THROW(static_cast<void>(text_of(records)), BadEvidence) << text;
    }
    EXPECT_FALSE(valid_device_key(""));
    EXPECT_FALSE(valid_device_key("1080ti"));
    EXPECT_FALSE(valid_device_key("a.b"));
    EXPECT_TRUE(valid_device_key("nvidia-h200"));
}

// An A/A test: 100 sweeps in which `beta` and `gamma` are the baseline over again.
TEST(TreeText, TheSameKernelTwiceMakesNoLeaves) {
    int split = 0;
    constexpr int kSweeps = trials(100);
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(kSweeps); ++seed) {
        const auto records = synthetic::records(
            [](const auto& variant, const auto&, const auto& f) { return (variant == "alpha" ? 3 : 1) * (50 + f[3]); },
            synthetic::problems(), 0.03, seed);
        const Evidence evidence = read_evidence(synthetic::family(), synthetic::device(), records);
        split += learn(evidence.matrix, evidence.matrix.all()).leaves.size() > 1;
    }
    EXPECT_LE(split, kSweeps * 5 / 100);
}

TEST(TreeText, ALinePerNode) {
    const Trained trained = train_on(sweep());
    const std::string text = tree_text(trained, synthetic::device());
    const auto parsed = nlohmann::json::parse(text);
    ASSERT_EQ(parsed.at("nodes").size(), trained.tree.nodes.size());
    std::size_t at = 0;
    for (std::size_t id = 0; id < trained.tree.nodes.size(); ++id) {
        at = text.find("\n  {\"id\": " + std::to_string(id) + ", ", at);
        ASSERT_NE(at, std::string::npos) << id;
        const std::size_t end = text.find('\n', at + 1);
        EXPECT_EQ(nlohmann::json::parse(text.substr(at, end - at - (text[end - 1] == ','))), parsed["nodes"][id]);
    }
    EXPECT_EQ(parsed.at("problems"), trained.evidence.matrix.rows());
    EXPECT_EQ(parsed.at("sources").size(), 4U) << "alpha, base, beta and gamma are ranked";
}

TEST(TreeText, TablesOfUnknownNamesAreRefused) {
    const TreeFile good = read_tree(text_of(sweep()));
    const auto refused = [&](const auto& change) {
        TreeFile tree = good;
        change(tree.nodes.front());
        EXPECT_THROW(
            static_cast<void>(tables::tree_tables(
                tables::source_of<synthetic::Problem>("synthetic", "kernels/problems/synthetic.hpp"), {&tree, 1})),
            BadData);
    };
    refused([](TreeFile::Node& node) { node.feature = "nothing"; });
    refused([](TreeFile::Node& node) { node.feature = "rows / nothing"; });
    refused(
        [](TreeFile::Node& node) { node = {.feature = "order", .categories = {"sideways"}, .left = 1, .right = 2}; });
}

}  // namespace
}  // namespace espalier::bench::learn
