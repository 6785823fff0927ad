// Weights of the problems that a program asks for: whose they are, how much, and that trees go by them.

#include "harness/bench/train/weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/bench/emit/tree_text.hpp"
#include "harness/bench/train/train.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "tests/bench/synthetic/family.hpp"

namespace espalier::bench::learn {
namespace {

/// A problem of the synthetic family as a program asked for it.
ListedProblem asked(const std::string& problem, double calls, double nanoseconds = 0) {
    return {.family = std::string(synthetic::family().name()),
            .problem = synthetic::family().canonical(problem),
            .calls = calls,
            .timed = nanoseconds > 0 ? calls : 0,
            .nanoseconds = nanoseconds};
}

ProblemMix mix_of(std::vector<ListedProblem> problems) {
    return {.file = "asked.txt", .sha256 = std::string(64, 'a'), .problems = std::move(problems)};
}

/// `alpha` is the fastest but for one problem in the midst of all, which no leaf of five has to itself.
std::string odd_one() { return synthetic::problems()[synthetic::problems().size() / 2]; }
std::vector<CaseRecord> sweep() {
    const std::vector<double> odd = synthetic::family().feature_values(odd_one());
    return synthetic::records(
        [odd](const std::string& variant, const std::string&, const std::vector<double>& features) {
            if (variant == "alpha") return features == odd ? 3000.0 : 1000.0;
            return variant == "beta" ? 1500.0 : 4000.0;
        },
        synthetic::problems());
}

Trained trained_with(const std::optional<ProblemMix>& mix) {
    TrainOptions options{.evaluate = false};
    if (mix) options.mix = std::make_shared<const ProblemMix>(*mix);
    return train(synthetic::family(), synthetic::device(), sweep(), options);
}

std::size_t row_of(const Matrix& matrix, const std::string& problem) {
    const auto at = std::ranges::find(matrix.problems, synthetic::family().canonical(problem));
    return static_cast<std::size_t>(at - matrix.problems.begin());
}

std::string written(const Trained& trained) { return tree_text(trained, synthetic::device()); }

TEST(Weights, MakeATreeChooseForTheMix) {
    const Trained without = trained_with(std::nullopt), with = trained_with(mix_of({asked(odd_one(), 1000)}));
    const std::size_t odd = row_of(with.evidence.matrix, odd_one());
    EXPECT_NEAR(log_regret(without.evidence.matrix, without.tree, odd), std::log(2), 0.05) << "the others outvote it";
    EXPECT_NEAR(log_regret(with.evidence.matrix, with.tree, odd), 0, 0.01);
    ASSERT_TRUE(with.weighting);
    EXPECT_NEAR(with.weighting->regret, 1, 0.01);
    EXPECT_FALSE(without.weighting);
}

TEST(Weights, AreInTheTreesFile) {
    const std::string text = written(trained_with(mix_of({asked(odd_one(), 7, 700)})));
    EXPECT_EQ(read_tree(text).weights_sha256, std::string(64, 'a'));
    EXPECT_NE(text.find(R"("by": "time", "problems": 1})"), std::string::npos) << text.substr(0, 1500);
    EXPECT_EQ(weights_of(text), std::string(64, 'a'));
    EXPECT_EQ(weights_of(written(trained_with(std::nullopt))), "");
    EXPECT_EQ(weights_of("no tree"), "");
}

TEST(Weights, ThatCountForNothingChangeNoByte) {
    ListedProblem elsewhere = asked(odd_one(), 1000);
    elsewhere.device = "cpu-other-2t";
    ListedProblem other = asked(odd_one(), 5);
    other.family = "dot";
    const Trained trained = trained_with(mix_of({elsewhere, other, asked("rows=12345;columns=3", 1)}));
    EXPECT_FALSE(trained.weighting);
    EXPECT_EQ(written(trained), written(trained_with(std::nullopt)));
    const auto tells = [&](const std::string& what) {
        return std::ranges::any_of(trained.evidence.notices,
                                   [&](const std::string& notice) { return notice.find(what) != std::string::npos; });
    };
    EXPECT_TRUE(tells("passed over in asked.txt: 1 problem asked of other devices"));
    EXPECT_TRUE(tells("passed over in asked.txt: 1 problem without times here"));
}

TEST(Weights, AreSharesOfTimeOrElseOfCalls) {
    const Matrix plain = trained_with(std::nullopt).evidence.matrix;
    const auto weights = [&](std::vector<ListedProblem> listed, std::size_t predicted = 0) {
        Matrix matrix = plain;
        std::vector<std::string> notices;
        EXPECT_TRUE(
            weigh(synthetic::family(), synthetic::device().key, mix_of(std::move(listed)), predicted, matrix, notices));
        return matrix;
    };
    const std::string one = synthetic::problems()[3], two = synthetic::problems()[40];
    const std::size_t a = row_of(plain, one), b = row_of(plain, two);
    const Matrix timed = weights({asked(one, 1, 3e6), asked(two, 100, 1e6)});
    EXPECT_NEAR(static_cast<double>(timed.weight(a) - 1) / static_cast<double>(timed.weight(b) - 1), 3, 0.05);
    const Matrix counted = weights({asked(one, 1, 3e6), asked(two, 4)});
    EXPECT_NEAR(static_cast<double>(counted.weight(b) - 1) / static_cast<double>(counted.weight(a) - 1), 4, 0.05);
    const auto extra = [](const Matrix& matrix) {
        return std::accumulate(matrix.weights.begin(), matrix.weights.end(), Loss{0}) -
               static_cast<Loss>(matrix.rows());
    };
    EXPECT_NEAR(static_cast<double>(extra(timed)), 9.0 * static_cast<double>(plain.rows()), 2);
    // Even a mix beside any number of predicted problems leaves room for sums of losses.
    EXPECT_LE(extra(weights({asked(one, 1e15, 1e18)}, 1'000'000'000)), Loss{1} << 19);
}

}  // namespace
}  // namespace espalier::bench::learn
