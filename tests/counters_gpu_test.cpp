// Counters against counts known by hand. Runs where there is a GPU.

#include <gtest/gtest.h>

#include "harness/device/counters.hpp"
#include "harness/device/runtime.hpp"

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
    const auto readings = session->measure([] {}, [&] { copy_on_device(to.data(), from.data(), kBytes); });
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
    const auto readings = session->measure([] {}, [&] { fill(buffer.data(), 0, buffer.size()); });
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
        for (const auto& reading : session->measure([] {}, [&] { fill(buffer.data(), 0, buffer.size()); }))
            EXPECT_TRUE(reading.value) << reading.name << ": " << reading.reason;
}

}  // namespace
}  // namespace espalier::device
