// The race of choices that a measuring plan holds, over choices whose times and results are made up.

#include "kernels/api/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <optional>
#include <vector>

#include "kernels/device/runtime.hpp"

namespace espalier {
namespace {

using namespace std::chrono_literals;

struct Runner {
    double nanoseconds;
    int right_checks = 1000;  ///< so many times its results are right
    bool has_memory = true;
    double first = 0;  ///< ns that the first run takes longer
};

class Scripted final : public Trials {
public:
    explicit Scripted(std::vector<Runner> runners) : runners_(std::move(runners)), runs_(runners_.size()) {}

    std::optional<double> check(std::size_t choice) override {
        const double took = time(choice, 1);
        if (!runners_[choice].has_memory) throw std::bad_alloc();
        if (choice == 0) return took;
        return runners_[choice].right_checks-- > 0 ? std::optional(took) : std::nullopt;
    }

    double time(std::size_t choice, int repeats) override {
        const double noise = 1 + 0.005 * std::sin(static_cast<double>(calls_++));
        double took = repeats * runners_[choice].nanoseconds * noise;
        if (runs_[choice] == 0) took += runners_[choice].first;
        runs_[choice] += repeats;
        all_ += took;
        return took;
    }

    [[nodiscard]] double spent() const override { return all_; }
    [[nodiscard]] long runs(std::size_t choice) const { return runs_[choice]; }

private:
    std::vector<Runner> runners_;
    std::vector<long> runs_;
    std::size_t calls_ = 0;
    double all_ = 0;
};

std::optional<Measured> race(Scripted& trials, std::vector<double> expected, std::chrono::nanoseconds budget = 50ms) {
    return measure(trials, expected, budget);
}

TEST(Measure, TheFastestWins) {
    Scripted trials({{40'000}, {90'000}, {30'000}, {35'000}});
    const auto won = race(trials, {1, 2, 1, 1});
    ASSERT_TRUE(won);
    EXPECT_EQ(won->winner, 2U);
    EXPECT_NEAR(won->speedup, 4.0 / 3, 0.05);
    EXPECT_NEAR(won->nanoseconds, 30'000, 1'000);
    EXPECT_EQ(won->choices, 4);
}

TEST(Measure, TheFirstStaysWhereNothingIsClearlyFaster) {
    Scripted trials({{40'000}, {39'900}, {40'000}});
    const auto won = race(trials, {1, 1, 1});
    ASSERT_TRUE(won);
    EXPECT_EQ(won->winner, 0U);
    EXPECT_EQ(won->speedup, 1);
}

TEST(Measure, AWrongChoiceNeverWins) {
    Scripted always({{40'000}, {1'000, 0}, {30'000}});
    EXPECT_EQ(race(always, {1, 1, 1})->winner, 2U);
    EXPECT_EQ(always.runs(1), 1);
    Scripted at_last({{40'000}, {1'000, 1}, {30'000}});  // right at first, wrong when it has won
    const auto won = race(at_last, {1, 1, 1});
    EXPECT_TRUE(!won || won->winner != 1U);
    Scripted all({{40'000}, {1'000, 0}, {2'000, 0}});
    EXPECT_FALSE(race(all, {1, 1, 1}));
}

TEST(Measure, SlowChoicesDropOut) {
    Scripted trials({{40'000}, {41'000}, {60'000}, {100'000}});
    EXPECT_EQ(race(trials, {1, 1, 1, 1}, 500ms)->winner, 0U);
    EXPECT_GT(trials.runs(0), 5);
    EXPECT_LT(trials.runs(2), 6);
    EXPECT_LT(trials.runs(3), 4);
}

TEST(Measure, BudgetIsKept) {
    for (const auto budget : {100us, 1'000us, 5'000us, 50'000us}) {
        std::vector<Runner> runners{{300'000}};
        for (int i = 1; i < 40; ++i) runners.push_back({290'000.0 + i * 1'000});
        Scripted trials(runners);
        race(trials, std::vector<double>(40, 1.0), budget);
        const double one_run = 1.05 * 330'000;
        EXPECT_LE(trials.spent(), std::max(one_run, std::chrono::duration<double, std::nano>(budget).count()));
    }
}

TEST(Measure, WhatIsKnownToBeSlowIsNotBegun) {
    Scripted trials({{1'000'000}, {900'000}, {500'000'000}});
    EXPECT_EQ(race(trials, {1, 1, 500})->winner, 1U);
    EXPECT_EQ(trials.runs(2), 0);
}

TEST(Measure, NothingIsLearnedWithoutABudget) {
    Scripted trials({{60'000'000}, {1'000'000}});
    EXPECT_FALSE(race(trials, {1, 1}));
    EXPECT_EQ(trials.runs(1), 0);
}

TEST(Measure, LoadingTakesNobodyOut) {
    Scripted trials({{4'000}, {2'000, 1000, true, 600'000}});
    EXPECT_EQ(race(trials, {1, 1})->winner, 1U);
}

TEST(Measure, WithoutMemoryAChoiceIsLeftOut) {
    Scripted trials({{40'000}, {1'000, 1000, false}, {30'000}});
    EXPECT_EQ(race(trials, {1, 1, 1})->winner, 2U);
    Scripted first({{40'000, 1000, false}, {1'000}});
    EXPECT_THROW(race(first, {1, 1}), std::bad_alloc);
}

class Failing final : public Trials {
public:
    explicit Failing(int code) : code_(code) {}
    std::optional<double> check(std::size_t choice) override {
        if (choice == 1) throw device::DeviceError("it fails", code_);
        return 1'000;
    }
    double time(std::size_t, int repeats) override { return 1'000.0 * repeats; }
    [[nodiscard]] double spent() const override { return 0; }

private:
    int code_;
};

TEST(Measure, AFailingDeviceIsTold) {
    Failing broken(700), full(2);
    const std::vector<double> expected{1, 1, 1};
    EXPECT_THROW(measure(broken, expected, 50ms), device::DeviceError);
    EXPECT_EQ(measure(full, expected, 50ms)->winner, 0U);
}

}  // namespace
}  // namespace espalier
