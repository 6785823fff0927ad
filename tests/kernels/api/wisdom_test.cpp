// Wisdom in one process: what is loaded, used, saved and forgotten, and what measuring plans learn.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "tests/kernels/api/wisdom_support.hpp"

namespace espalier {
namespace {

using namespace std::chrono_literals;

constexpr PlanOptions kQuick{.effort = Effort::measure, .budget = 500ms};

TEST_F(Wisdom, DecidesCallsPlansAndExplanations) {
    constexpr std::int64_t kElements = 123'457;
    ASSERT_NE(dot_here(kElements).variant, "cpu_scalar");
    EXPECT_EQ(load(wisdom_line(dot_entry(kElements)) + "\n").entries, 1);
    const Explanation why = dot_here(kElements);
    EXPECT_EQ(why.variant, "cpu_scalar");
    EXPECT_EQ(why.reason, "measured here on 2026-11-26, 1.31x the tree's choice");
    EXPECT_EQ(why.measured_at, "2026-11-26T17:00:00Z");
    EXPECT_FALSE(why.ranking.empty());
    expect_holds(why.text(),
                 {"runs: cpu_scalar\n", "measured: 2026-11-26T17:00:00Z, 3 choices were timed\n", "leaf: "});
    EXPECT_EQ(why.ignored, "");
    const auto plan = value_of(plan_dot_product(Device::cpu(), kElements));
    EXPECT_EQ(value_of(plan.explain()).variant, "cpu_scalar");
    EXPECT_NE(dot_here(kElements + 1).variant, "cpu_scalar");
    EXPECT_EQ(value_of(explain_dot_product(Device::cpu(), kElements, {.variant = "cpu_openmp"})).variant, "cpu_openmp");
    forget_wisdom();
    EXPECT_NE(dot_here(kElements).variant, "cpu_scalar");
    EXPECT_EQ(value_of(plan.explain()).variant, "cpu_scalar");  // a plan keeps what it was made by
}

TEST_F(Wisdom, IsForAsManyThreads) {
    if (dot_here(1000).all_threads == 1) GTEST_SKIP() << "one thread";
    WisdomEntry entry = dot_entry(200'003);
    entry.threads = 1;
    use(wisdom_line(entry));
    EXPECT_EQ(value_of(explain_dot_product(Device::cpu(), 200'003, {.threads = 1})).variant, "cpu_scalar");
    EXPECT_EQ(dot_here(200'003).measured_at, "");
}

TEST_F(Wisdom, OfDeterministicVariantsIsForThoseWhoAskForThem) {
    WisdomEntry entry = dot_entry(300'007);
    entry.deterministic = true;
    use(wisdom_line(entry));
    EXPECT_EQ(value_of(explain_dot_product(Device::cpu(), 300'007, {.deterministic = true})).variant, "cpu_scalar");
    EXPECT_EQ(dot_here(300'007).measured_at, "");
}

TEST_F(Wisdom, TheLaterEntryCounts) {
    WisdomEntry later = dot_entry(1'001, "cpu_openmp");
    later.date = "2026-11-27T17:00:00Z";
    use(wisdom_line(dot_entry(1'001)) + "\n" + wisdom_line(later) + "\n");
    EXPECT_EQ(dot_here(1'001).variant, "cpu_openmp");
}

TEST_F(Wisdom, StaleEntriesAreIgnoredWithAReason) {
    struct Case {
        void (*change)(WisdomEntry&);
        const char* why;
    };
    for (const Case& stale :
         {Case{[](WisdomEntry& e) { e.driver = "999.1"; }, "measured with driver 999.1, this is -"},
          Case{[](WisdomEntry& e) { e.library = "0.0.9"; }, "measured with espalier 0.0.9, this is"},
          Case{[](WisdomEntry& e) { e.source[3] ^= 1; }, "the source of cpu_scalar has changed"},
          Case{[](WisdomEntry& e) { e.variant = "gone"; }, "its variant gone is not in this library"},
          Case{[](WisdomEntry& e) { e.configuration = "block=7"; }, "no such configuration"}}) {
        forget_wisdom();
        WisdomEntry entry = dot_entry(5'003);
        stale.change(entry);
        const LoadedWisdom loaded = load(wisdom_line(entry) + "\n" + wisdom_line(dot_entry(5'009)) + "\n");
        EXPECT_EQ(loaded.entries, 1);
        expect_holds(loaded.ignored, {"w.txt: a stale line, line 1: ", stale.why});
        expect_holds(dot_here(5'003).text(), {"ignored: wisdom of this problem: ", stale.why});
        EXPECT_EQ(dot_here(5'003).measured_at, "");
        EXPECT_EQ(dot_here(5'009).variant, "cpu_scalar");
        EXPECT_EQ(dot_here(5'009).ignored.find("of this problem"), std::string::npos);
    }
}

TEST_F(Wisdom, SurvivesSavingAndLoading) {
    std::string lines;
    for (std::int64_t elements = 1; elements <= 1'000; ++elements) lines += wisdom_line(dot_entry(elements)) + "\n";
    EXPECT_EQ(load(lines).entries, 1'000);
    const std::string saved = folder_ / "saved.txt";
    expect_ok(save_wisdom(saved));
    forget_wisdom();
    const LoadedWisdom again = value_of(load_wisdom(saved));
    EXPECT_EQ(again.entries, 1'000);
    EXPECT_EQ(again.ignored, "");
    for (std::int64_t elements = 1; elements <= 1'000; ++elements)
        EXPECT_EQ(dot_here(elements).measured_at, "2026-11-26T17:00:00Z") << elements;
}

TEST_F(Wisdom, FilesThatCannotBeAreErrors) {
    const auto loaded = load_wisdom(folder_ / "nowhere");
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, ErrorCode::bad_file);
    EXPECT_EQ(load_wisdom(folder_.path().native()).error().code, ErrorCode::bad_file);
    EXPECT_EQ(save_wisdom(folder_ / "nowhere/w.txt").error().code, ErrorCode::bad_file);
    EXPECT_EQ(save_wisdom(folder_.path().native()).error().code, ErrorCode::bad_file);
}

TEST_F(Wisdom, AMeasuringPlanLearns) {
    const auto plan = value_of(plan_dot_product(Device::cpu(), 50'021, {}, kQuick));
    const Explanation why = value_of(plan.explain());
    EXPECT_EQ(why.reason.substr(0, 17), "measured here on ");
    EXPECT_GE(why.measured_speedup, 1);
    EXPECT_GE(why.measured_choices, 2);
    EXPECT_EQ(dot_here(50'021).measured_at, why.measured_at);
    const std::vector<float> ones(50'021, 1.0F);
    std::vector<std::byte> memory(plan.workspace_bytes() + 64);
    float result = 0;
    auto* const aligned = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
    expect_ok(plan.run(ones, ones, &result, nullptr, {aligned, plan.workspace_bytes()}));
    EXPECT_EQ(result, 50'021.0F);
}

TEST_F(Wisdom, IsUsedWhereAsMuchEffortLearnedIt) {
    use(wisdom_line(dot_entry(60'013)));
    EXPECT_EQ(value_of(value_of(plan_dot_product(Device::cpu(), 60'013, {}, kQuick)).explain()).measured_at,
              "2026-11-26T17:00:00Z");
    const PlanOptions all{.effort = Effort::exhaustive, .budget = 500ms};
    const auto plan = value_of(plan_dot_product(Device::cpu(), 60'013, {}, all));
    EXPECT_NE(value_of(plan.explain()).measured_at, "2026-11-26T17:00:00Z");
}

TEST_F(Wisdom, AForcedVariantIsNotMeasured) {
    const auto plan = value_of(plan_dot_product(Device::cpu(), 70'001, {.variant = "cpu_scalar"}, kQuick));
    EXPECT_EQ(value_of(plan.explain()).forced_by, "the option variant");
    EXPECT_EQ(dot_here(70'001).measured_at, "");
}

TEST_F(Wisdom, WrongPlanOptionsAreErrors) {
    const auto negative = plan_dot_product(Device::cpu(), 10, {}, {.effort = Effort::measure, .budget = -1ns});
    EXPECT_EQ(negative.error().code, ErrorCode::invalid_argument);
    const auto unknown = plan_dot_product(Device::cpu(), 10, {}, {.effort = static_cast<Effort>(7)});
    EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
}

TEST_F(Wisdom, NoFileIsWrittenUnasked) {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path());
    static_cast<void>(value_of(plan_dot_product(Device::cpu(), 80'021, {}, kQuick)));
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
    std::filesystem::current_path(before);
}

TEST_F(Wisdom, ManyThreadsLearnLoadForgetAndDecide) {
    std::string lines;
    for (std::int64_t elements = 2'000; elements < 2'100; ++elements) lines += wisdom_line(dot_entry(elements)) + "\n";
    const std::string path = file(lines);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i) {
                if (t == 0) {
                    EXPECT_TRUE(load_wisdom(path).ok());
                }
                if (t == 1 && i % 10 == 9) forget_wisdom();
                if (t == 2) {
                    EXPECT_TRUE(plan_dot_product(Device::cpu(), 3'000 + i, {.threads = 1},
                                                 {.effort = Effort::measure, .budget = 500ms})
                                    .ok());
                }
                EXPECT_TRUE(explain_dot_product(Device::cpu(), 2'000 + i, {.threads = 1}).ok());
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(value_of(load_wisdom(path)).entries, 100);
    EXPECT_EQ(dot_here(2'050).variant, "cpu_scalar");
}

}  // namespace
}  // namespace espalier
