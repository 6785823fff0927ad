// Choices that are the same as another configuration here: they run as that one.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/dispatch/explain.hpp"
#include "tests/kernels/dispatch/invented_trees.hpp"

namespace espalier {
namespace {

using namespace invented_trees;

/// As variants with threads are: on one thread `parallel` 1 is 0, and of narrow images `rows` 32 is 16 besides.
Support shared_out(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (configuration["parallel"] && device.threads == 1)
        return Support::no("one hardware thread: the same as parallel=0");
    if (configuration["rows"] != 16 && problem.width < 100) return Support::no("here the same as rows=16");
    return problem.height > 1000 ? Support::no("too high") : Support::yes();
}

/// What names no configuration, or only itself, is a refusal like any other.
Support going_in_circles(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    constexpr const char* kNamed[] = {"tiles=1", "block=1", "block=", "block=64", "block=65"};
    if (problem.width < 5) return Support::no("it is the same as " + std::string(kNamed[problem.width]));
    return Support::no(configuration["block"] == 64 ? "the same as block=128" : "the same as block=64");
}

const std::vector<Registered<Problem>> equal_ones{
    {{.space = {{"parallel", {1, 0}}, {"rows", {16, 32}}},
      .supports = shared_out,
      .run = run_nothing,
      .name = "shared"},
     DeviceKind::cpu,
     false,
     0,
     "",
     ""},
    {baseline("baseline"), DeviceKind::cpu, false, 0, "", ""},
    {{.space = {{"block", {64, 128}}}, .supports = going_in_circles, .run = run_nothing, .name = "circles"},
     DeviceKind::cpu,
     false,
     0,
     "",
     ""},
};
constexpr auto kShared = static_cast<VariantId>(0), kCircles = static_cast<VariantId>(2);
constexpr Choice<Problem> equal_ranking[] = {{kCircles, {{"block", 64}}, 1.0F},
                                             {kShared, {{"parallel", 1}, {"rows", 32}}, 1.1F},
                                             {kShared, {{"parallel", 0}, {"rows", 16}}, 1.2F},
                                             {kBaseline, {}, 50.0F}};
constexpr Leaf<Problem> equal_leaves[] = {{0, 10, 2.7F, 1.1F, 1.0F, 1.2F, equal_ranking}};

class EqualChoices : public testing::Test {
protected:
    [[nodiscard]] std::string decided(const Problem& problem, int threads, std::string_view forced = {}) const {
        const auto choice = parse_forced_variant(forced, "the test");
        const auto decision = decide(tables(), problem, cpu_device(threads, Isa::avx2), choice ? &*choice : nullptr);
        if (!decision) return "error: " + decision.error().message;
        return std::string(decision.value().entry->variant.name) + " " + decision.value().configuration.text();
    }
    [[nodiscard]] Tables<Problem> tables() const { return {"convolution_2d", equal_ones, trees_}; }
    std::vector<Selector<Problem>> trees_{
        {"cpu-zen4-avx2-4t", {.isa = Isa::avx2, .threads = 4}, "abc", {}, {}, one_leaf, equal_leaves}};
};

TEST_F(EqualChoices, RunAsWhatTheyAreTheSameAs) {
    EXPECT_EQ(decided(sized(200, 10), 4), "shared parallel=1;rows=32");
    EXPECT_EQ(decided(sized(200, 10), 1), "shared parallel=0;rows=32");
    EXPECT_EQ(decided(sized(50, 10), 4), "shared parallel=1;rows=16");
    EXPECT_EQ(decided(sized(50, 10), 1), "shared parallel=0;rows=16");  // one step after the other
}

TEST_F(EqualChoices, ThatCannotRunEitherAreSkipped) {
    EXPECT_EQ(decided(sized(50, 2000), 1), "baseline default");
    const Explanation why = explain(tables(), sized(50, 2000), cpu_device(1, Isa::avx2), nullptr).value();
    EXPECT_EQ(why.ranking[1].infeasible, "too high");
    EXPECT_EQ(why.ranking[1].same_as, "");
}

TEST_F(EqualChoices, ThatNameNothingAreRefusals) {
    for (std::int64_t width = 0; width < 7; ++width)
        EXPECT_EQ(decided(sized(width, 10), 4), "shared parallel=1;rows=16") << width;
    EXPECT_EQ(decided(sized(0, 10), 4, "circles").substr(0, 6), "error:");
}

TEST_F(EqualChoices, ForcedRunAsThatToo) {
    EXPECT_EQ(decided(sized(50, 10), 1, "shared:parallel=1;rows=32"), "shared parallel=0;rows=16");
    EXPECT_EQ(decided(sized(50, 10), 1, "shared"), "shared parallel=0;rows=16");
    EXPECT_EQ(decided(sized(200, 10), 4, "shared:parallel=1;rows=32"), "shared parallel=1;rows=32");
}

TEST_F(EqualChoices, AreExplained) {
    const Explanation why = explain(tables(), sized(50, 10), cpu_device(1, Isa::avx2), nullptr).value();
    EXPECT_EQ(why.configuration, "parallel=0;rows=16");
    EXPECT_EQ(why.ranking[1].infeasible, "");
    EXPECT_EQ(why.ranking[1].same_as, "parallel=0;rows=16");
    EXPECT_EQ(why.ranking[2].same_as, "");
    const std::string text = why.text();
    EXPECT_NE(text.find("  > 1.10x  shared (parallel=1;rows=32)  [here the same as parallel=0;rows=16]\n"
                        "    1.20x  shared (parallel=0;rows=16)\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("why: choice 2 of the tree"), std::string::npos) << text;
}

}  // namespace
}  // namespace espalier
