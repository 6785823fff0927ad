// What is told about trees: how they differ from earlier ones, and what they would be with fewer variants.

#include "harness/bench/train/decisions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/bench/emit/tree_text.hpp"
#include "harness/bench/train/train.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "tests/bench/synthetic/family.hpp"
#include "tests/bench/train/ablation.hpp"
#include "tests/bench/train/transfer.hpp"

namespace espalier::bench::learn {
namespace {

Trained train_on(const std::vector<CaseRecord>& records, const TrainOptions& options = {.evaluate = false}) {
    return train(synthetic::family(), synthetic::device(), records, options);
}

std::string written(const Trained& trained) { return tree_text(trained, synthetic::device()); }

std::vector<CaseRecord> sweep() { return synthetic::records(synthetic::regions, synthetic::problems()); }

/// A sweep with `gamma` four times as slow.
std::vector<CaseRecord> sweep_with_slow_gamma() {
    return synthetic::records(
        [](const std::string& variant, const std::string& configuration, const std::vector<double>& features) {
            return synthetic::regions(variant, configuration, features) * (variant == "gamma" ? 4 : 1);
        },
        synthetic::problems());
}

std::size_t index_of(const char* variant) { return synthetic::family().find(variant); }

TEST(Decisions, OfAWrittenTreeAreThoseOfTheTree) {
    const Trained trained = train_on(sweep());
    const Decisions now = decisions_of(trained);
    const auto read = decisions_of(written(trained), trained, synthetic::device());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->choices, now.choices);
    EXPECT_EQ(read->regions, now.regions);
    EXPECT_EQ(read->logs, now.logs);
    const auto diff = compare(written(trained), trained, synthetic::device());
    ASSERT_TRUE(diff);
    EXPECT_TRUE(diff->changes.empty());
    EXPECT_EQ(describe(*diff), "");
}

TEST(Decisions, TellWhatOtherDataChanged) {
    const Trained before = train_on(sweep()), after = train_on(sweep_with_slow_gamma());
    const auto diff = compare(written(before), after, synthetic::device());
    ASSERT_TRUE(diff);
    EXPECT_EQ(diff->why, "other data");
    EXPECT_EQ(diff->problems, 75U);
    ASSERT_FALSE(diff->changes.empty());
    EXPECT_GT(diff->before, 1.1);
    EXPECT_LT(diff->after, 1.02);
    // Whatever gamma was chosen for is decided anew, to advantage; the first change is the one that matters most.
    const Decisions former = decisions_of(before);
    std::size_t changed = 0;
    for (const Change& change : diff->changes)
        if (change.from == "gamma default") changed += change.problems.size();
    EXPECT_EQ(changed, static_cast<std::size_t>(std::ranges::count(former.choices, "gamma default")));
    EXPECT_EQ(diff->changes.front().from, "gamma default");
    EXPECT_GT(diff->changes.front().before, 1.5 * diff->changes.front().after);
    EXPECT_NE(describe(*diff).find("gamma default -> "), std::string::npos);
    EXPECT_EQ(to_json(*diff).at("changes").size(), diff->changes.size());
}

TEST(Decisions, TellWhatAnotherLearnerChanged) {
    const Trained before = train_on(sweep());
    TrainOptions stump{.evaluate = false};
    stump.learn.max_leaves = 2;
    const auto diff = compare(written(before), train_on(sweep(), stump), synthetic::device());
    ASSERT_TRUE(diff);
    EXPECT_EQ(diff->why, "the same data, learned otherwise");
    EXPECT_LT(diff->before, diff->after);
}

TEST(Decisions, KnowWhatTheyCannotRead) {
    const Trained trained = train_on(sweep());
    const auto readable = [&](std::string text, const std::string& what, const std::string& instead) {
        const auto at = text.find(what);
        if (at != std::string::npos) text.replace(at, what.size(), instead);
        if (const auto checksum = text.rfind(",\n \"crc32\""); checksum != std::string::npos)
            text = seal_tree(text.substr(0, checksum) + "\n}\n");
        return decisions_of(text, trained, synthetic::device()).has_value();
    };
    const std::string good = written(trained);
    EXPECT_TRUE(readable(good, "", ""));
    EXPECT_FALSE(readable("", "", ""));
    EXPECT_FALSE(readable("{}", "", ""));
    EXPECT_FALSE(readable("[[[[[[[[[[[[", "", ""));
    EXPECT_FALSE(readable(good, "\"synthetic\"", "\"dot\""));
    EXPECT_FALSE(readable(good, "\"feature\": \"", "\"feature\": \"\\u001b"));
    EXPECT_FALSE(readable(good, "\"left\": 1", "\"left\": 0"));   // a cycle
    EXPECT_FALSE(readable(good, "\"left\": 1", "\"left\": 99"));  // no such node
}

TEST(Ablation, WithoutAVariantItsRegionsFlip) {
    const Trained trained = train_on(sweep());
    VariantSet kept = variants_of(trained);
    kept.erase(index_of("gamma"));
    const Ablation without = ablate(trained, kept);
    EXPECT_GT(without.virtual_best, 1.05);
    EXPECT_GE(without.tree, without.virtual_best - 1e-12);
    ASSERT_FALSE(without.diff.changes.empty());
    for (const Change& change : without.diff.changes) EXPECT_EQ(change.to.find("gamma"), std::string::npos);
    EXPECT_EQ(without.diff.changes.front().from, "gamma default");
    EXPECT_NEAR(without.diff.after, without.tree, 1e-9);

    const Ablation all = ablate(trained, variants_of(trained));
    EXPECT_DOUBLE_EQ(all.virtual_best, 1);
    EXPECT_TRUE(all.diff.changes.empty());
}

TEST(Ablation, KeepsTheBaselineWhateverIsAsked) {
    const Trained trained = train_on(sweep());
    const Ablation nothing = ablate(trained, {});
    EXPECT_EQ(nothing.kept, VariantSet{index_of("base")});
    EXPECT_DOUBLE_EQ(nothing.virtual_best, nothing.tree);
    EXPECT_GT(nothing.virtual_best, 1.2);
}

TEST(Ablation, FindsTheBestSetOfEverySize) {
    const Trained trained = train_on(sweep());
    EXPECT_EQ(best_set(trained, 0), VariantSet{index_of("base")});
    double last = ablate(trained, best_set(trained, 0)).virtual_best;
    for (std::size_t size = 1; size <= 3; ++size) {
        const double virtual_best = ablate(trained, best_set(trained, size)).virtual_best;
        EXPECT_LE(virtual_best, last);
        last = virtual_best;
        // No other set of this size is better.
        for (unsigned bits = 0; bits < 8; ++bits) {
            VariantSet set;
            unsigned bit = 1;
            for (const char* name : {"alpha", "beta", "gamma"}) {
                if (bits & bit) set.insert(index_of(name));
                bit *= 2;
            }
            if (set.size() <= size) {
                EXPECT_GE(ablate(trained, set).virtual_best, virtual_best - 1e-12);
            }
        }
    }
    EXPECT_DOUBLE_EQ(last, 1);
}

// On its own data no other device's tree does better than a device's own by more than a leaf costs.
TEST(Transfer, ItsOwnTreeFirstThenTheBest) {
    std::vector<TrainedDevice> trained(3);
    trained[0].families.push_back(train_on(sweep()));
    trained[1].families.push_back(train_on(sweep_with_slow_gamma()));
    trained[2].families.push_back(train_on(sweep()));
    const char* keys[] = {"one", "slow", "gpu"};
    for (std::size_t i = 0; i < trained.size(); ++i) {
        trained[i].device = synthetic::device();
        trained[i].device.key = keys[i];
    }
    trained[2].device.kind = DeviceKind::cuda;
    const std::vector<TransferRow> rows = transfer(trained);
    ASSERT_EQ(rows.size(), 3U);
    for (std::size_t i = 0; i < 2; ++i) {
        const std::vector<TransferCell>& cells = rows[i].cells;
        ASSERT_EQ(cells.size(), 3U);  // its own, that of the other one of its kind, the baseline
        EXPECT_EQ(cells[0].tree, keys[i]);
        EXPECT_EQ(cells[1].tree, keys[1 - i]);
        EXPECT_TRUE(cells[1].fallback);
        EXPECT_EQ(cells[2].tree, "baseline");
        EXPECT_LE(cells[0].regret, 1.001 * cells[1].regret);
        EXPECT_LE(cells[1].regret, cells[2].regret);
    }
    EXPECT_GT(rows[1].cells[1].regret, 1.1) << "gamma is slow there";
    EXPECT_EQ(rows[2].cells.size(), 2U) << "no other device of its kind";
}

}  // namespace
}  // namespace espalier::bench::learn
