// Variants that a caller or the environment names: they run as asked for, or the call is an error.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/dispatch/dispatch.hpp"
#include "tests/kernels/dispatch/invented_trees.hpp"

namespace espalier {
namespace {

using namespace invented_trees;

TEST_F(Dispatch, DeterministicRefusesAForcedVariantThatIsNot) {
    const auto entries = unsteady({"fast"});
    const Tables<Problem> all{"convolution_2d", entries, trees_};
    const auto forced = parse_forced_variant("fast", "the test");
    EXPECT_TRUE(decide(all, sized(10, 10), cpu_device(4, Isa::avx2), &*forced));
    const auto refused = decide(all, sized(10, 10), cpu_device(4, Isa::avx2), &*forced, {.deterministic = true});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_NE(refused.error().message.find("it races"), std::string::npos) << refused.error().message;
}

TEST_F(Dispatch, WhatIsRightForSomeArraysAloneNeverRuns) {
    auto entries = registry;
    const auto fast = std::ranges::find(entries, "fast", [](const auto& entry) { return entry.variant.name; });
    ASSERT_NE(fast, entries.end());
    const Tables<Problem> all{"convolution_2d", entries, trees_};
    const auto device = cpu_device(4, Isa::avx2);
    ASSERT_EQ(decide(all, sized(10, 10), device, nullptr).value().entry->variant.name, "fast");
    fast->variant.assumes = "it takes the image for black";
    EXPECT_NE(decide(all, sized(10, 10), device, nullptr).value().entry->variant.name, "fast");
    const auto forced = parse_forced_variant("fast", "the test");
    const auto refused = decide(all, sized(10, 10), device, &*forced);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_NE(refused.error().message.find("takes the image for black"), std::string::npos) << refused.error().message;
}

TEST_F(Dispatch, AForcedVariantRunsWithTheNamedConfigurationElseTheTreesElseItsDefault) {
    const auto device = cpu_device(4, Isa::avx2);
    EXPECT_EQ(decided(sized(10, 10), device, "fast:block=64"), "fast block=64");
    EXPECT_EQ(decided(sized(10, 10), device, "fast"), "fast block=128");  // the leaf ranks 128 first
    EXPECT_EQ(decided(sized(10, 500), device, "fast"), "fast block=64");  // that leaf does not rank it
    EXPECT_EQ(decided(sized(10, 10), device, "baseline"), "baseline default");
}

TEST_F(Dispatch, AForcedVariantThatCannotRunIsAnErrorNeverAnotherVariant) {
    const auto device = cpu_device(4, Isa::avx2);
    const auto code = [&](const Problem& problem, std::string_view text) {
        const auto forced = parse_forced_variant(text, "the test");
        const auto decision = decide(tables(), problem, device, &*forced);
        EXPECT_FALSE(decision) << text;
        return decision ? ErrorCode::internal : decision.error().code;
    };
    EXPECT_EQ(code(sized(10, 10), "fastest"), ErrorCode::unknown_variant);
    EXPECT_EQ(code(sized(10, 10), "missing"), ErrorCode::unknown_variant);
    EXPECT_EQ(code(sized(10, 10), "fast:block=63"), ErrorCode::unknown_variant);
    EXPECT_EQ(code(sized(200, 10), "fast"), ErrorCode::unsupported);
    EXPECT_EQ(code(sized(10, 10), "gpu_baseline"), ErrorCode::unsupported);
}

TEST(ForcedVariants, ParsesSeveralFamiliesAndConfigurations) {
    const auto forced = ForcedVariants::parse("convolution_2d/fast:block=64;items=2");
    ASSERT_TRUE(forced) << forced.error().message;
    const ForcedVariant* found = forced.value().find("convolution_2d");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->variant, "fast");
    EXPECT_EQ(found->configuration, "block=64;items=2");
    EXPECT_EQ(forced.value().find("histogram"), nullptr);
    ASSERT_TRUE(ForcedVariants::parse(""));
}

TEST(ForcedVariants, RefusesWhatItCannotMean) {
    for (const auto* text : {"global", "convolution_2d/", "/global", "no_such_family/global", ",",
                             "convolution_2d/:block=1", "convolution_2d/a,convolution_2d/b"}) {
        const auto forced = ForcedVariants::parse(text);
        ASSERT_FALSE(forced) << text;
        EXPECT_EQ(forced.error().code, ErrorCode::unknown_variant);
        EXPECT_NE(forced.error().message.find("ESPALIER_FORCE_VARIANT"), std::string::npos);
    }
}

}  // namespace
}  // namespace espalier
