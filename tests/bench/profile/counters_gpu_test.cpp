// Counters against counts known by hand. Runs where there is a GPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/profile/activity.hpp"
#include "harness/bench/profile/ceilings.hpp"
#include "harness/bench/profile/counters.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::device {
namespace {

double value_of(const std::vector<CounterReading>& readings, std::string_view name) {
    for (const auto& reading : readings)
        if (reading.name == name) {
            EXPECT_TRUE(reading.value) << name << ": " << reading.reason;
            return reading.value.value_or(0);
        }
    ADD_FAILURE() << name << " was not measured";
    return 0;
}

std::vector<CounterReading> measure_one(CounterSession& session, const std::function<void()>& launch) {
    return session.measure([] {}, std::span(&launch, 1)).at(0);
}

class Counters : public testing::Test {
protected:
    void SetUp() override {
        if (count() == 0) GTEST_SKIP() << unavailable_reason();
        open(0);
    }
};

TEST_F(Counters, AColdCopyReadsAndWritesItsBytesOnce) {
    constexpr std::size_t kBytes = std::size_t{1} << 30;
    const Buffer from(kBytes), to(kBytes);
    fill(from.data(), 1, kBytes);
    std::string reason;
    const auto session = open_counters(basic_counters(), reason);
    ASSERT_TRUE(session) << reason;
    EXPECT_EQ(session->passes(), 1U);
    const auto readings = measure_one(*session, [&] { copy_on_device(to.data(), from.data(), kBytes); });
    // A copy on the device runs as a kernel; at most the L2's share of the writes is still in the cache.
    EXPECT_NEAR(value_of(readings, "dram__bytes_read.sum"), kBytes, 0.02 * kBytes);
    EXPECT_NEAR(value_of(readings, "dram__bytes_write.sum"), kBytes, 0.08 * kBytes);
    EXPECT_GT(value_of(readings, "gpu__time_duration.sum"), kBytes / 3000.0);  // ns: 2 GiB at < 6 TB/s
}

TEST_F(Counters, AnUnknownMetricIsReportedAndSpoilsNothing) {
    const std::string_view metrics[] = {"gpu__time_duration.sum", "no__such_metric.sum"};
    std::string reason;
    const auto session = open_counters(metrics, reason);
    ASSERT_TRUE(session) << reason;
    const Buffer buffer(1 << 20);
    const auto readings = measure_one(*session, [&] { fill(buffer.data(), 0, buffer.size()); });
    ASSERT_EQ(readings.size(), 2U);
    EXPECT_TRUE(readings[0].value);
    EXPECT_FALSE(readings[1].value);
    EXPECT_FALSE(readings[1].reason.empty());
}

TEST_F(Counters, TheFullSetIsCollectedAndASessionCanBeReused) {
    std::string reason;
    const auto session = open_counters(full_counters(), reason);
    ASSERT_TRUE(session) << reason;
    const Buffer buffer(64 << 20);
    for (int repeat = 0; repeat < 2; ++repeat)
        for (const auto& reading : measure_one(*session, [&] { fill(buffer.data(), 0, buffer.size()); }))
            EXPECT_TRUE(reading.value) << reading.name << ": " << reading.reason;
}

TEST_F(Counters, LaunchesThatShareThePassesAreToldApart) {
    constexpr std::size_t kMiB = 1 << 20;
    constexpr std::array<std::size_t, 4> kSizes{256 * kMiB, 1024 * kMiB, 128 * kMiB, 512 * kMiB};
    const Buffer from(kSizes[1]), to(kSizes[1]);
    fill(from.data(), 1, kSizes[1]);
    std::vector<std::function<void()>> copies;
    for (const std::size_t bytes : kSizes)
        copies.emplace_back([&, bytes] { copy_on_device(to.data(), from.data(), bytes); });
    std::string reason;
    const auto session = open_counters(full_counters(), reason);
    ASSERT_TRUE(session) << reason;
    int prepared = 0;
    const Buffer other(256 * kMiB);
    const auto flush = [&] { ++prepared, fill(other.data(), 0, other.size()); };
    const auto readings = session->measure(flush, copies);
    EXPECT_EQ(prepared, static_cast<int>(copies.size() * session->passes()));
    ASSERT_EQ(readings.size(), copies.size());
    for (std::size_t i = 0; i < kSizes.size(); ++i)
        EXPECT_NEAR(value_of(readings[i], "dram__bytes_read.sum"), kSizes[i], 0.05 * kSizes[i]) << i;
}

TEST_F(Counters, LaunchesAreDescribed) {
    const Buffer buffer(64 << 20);
    const auto readings = describe_launches([&] {
        launch_nothing();
        read_through(buffer.data(), buffer.size());
    });
    EXPECT_EQ(value_of(readings, "launch__kernels"), 2);
    EXPECT_EQ(value_of(readings, "launch__block_size"), 256) << "of the kernel that takes longer";
    EXPECT_EQ(value_of(readings, "launch__grid_size"), 1024);
    EXPECT_EQ(value_of(readings, "launch__local_mem_per_thread"), 0);
    EXPECT_GT(value_of(readings, "launch__share_of_time"), 0.5);
    const double registers = value_of(readings, "launch__registers_per_thread");
    EXPECT_GE(registers, 16);
    EXPECT_LE(registers, 64);
    double least = value_of(readings, "launch__occupancy_limit_warps");
    EXPECT_EQ(least, 8) << "2,048 threads";
    for (const char* limit : {"registers", "shared_mem", "blocks"})
        least = std::min(least, value_of(readings, std::string("launch__occupancy_limit_") + limit));
    EXPECT_DOUBLE_EQ(value_of(readings, "sm__maximum_warps_per_active_cycle_pct"), 100 * least * 256 / 2048);
}

TEST_F(Counters, WhatCannotBeCollectedTogetherCostsNoOthers) {
    const std::string_view metrics[] = {"no__such_metric.sum", "gpu__time_duration.sum", "nor__this_one.avg",
                                        "dram__bytes_read.sum"};
    std::string reason;
    const auto session = open_counters(metrics, reason);
    ASSERT_TRUE(session) << reason;
    const Buffer buffer(1 << 20);
    const auto readings = measure_one(*session, [&] { fill(buffer.data(), 0, buffer.size()); });
    ASSERT_EQ(readings.size(), 4U);
    EXPECT_TRUE(readings[1].value && readings[3].value);
    EXPECT_NE(readings[0].reason.find("has no such metric"), std::string::npos);
    EXPECT_FALSE(readings[2].value);
}

TEST_F(Counters, CountersAreTheSameAfterATrace) {
    const Buffer buffer(64 << 20);
    const auto launch = [&] { read_through(buffer.data(), buffer.size()); };
    std::string reason;
    const auto session = open_counters(full_counters(), reason);
    ASSERT_TRUE(session) << reason;
    const double before = value_of(measure_one(*session, launch), "smsp__inst_executed.sum");
    describe_launches(launch);
    EXPECT_DOUBLE_EQ(value_of(measure_one(*session, launch), "smsp__inst_executed.sum"), before);
}

TEST_F(Counters, ATraceHasWhatRanInItsOrder) {
    const Buffer buffer(64 << 20);
    std::string reason;
    const auto trace = trace_activity(reason);
    ASSERT_TRUE(trace) << reason;
    EXPECT_FALSE(trace_activity(reason)) << "one at a time";
    const std::uint64_t before = activity_clock_ns();
    fill(buffer.data(), 0, buffer.size());
    read_through(buffer.data(), buffer.size());
    const auto activities = trace->take();
    ASSERT_EQ(activities.size(), 2U);
    EXPECT_EQ(activities[0].name, "fill");
    EXPECT_TRUE(activities[1].is_kernel);
    EXPECT_NE(activities[1].name.find("read"), std::string::npos);
    EXPECT_GE(activities[0].start_ns, before);
    EXPECT_LE(activities[1].end_ns, activity_clock_ns());
    EXPECT_LE(activities[0].end_ns, activities[1].start_ns);
}

}  // namespace
}  // namespace espalier::device
