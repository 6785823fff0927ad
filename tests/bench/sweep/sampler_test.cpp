// What samples are relieved of, and what runs come out as that take hardly longer than nothing. The GPU's sampler is
// that of GPUs, on the host executor.

#include "harness/bench/sweep/worker/sampler.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/bench/sweep/worker/timing.hpp"

namespace espalier::bench {
namespace {

class Undisturbed final : public ConditionWatch {
public:
    void begin_round() override {}
    bool disturbed() override { return false; }
    Conditions read() override { return {}; }
};

DeviceInfo device_of(DeviceKind kind) {
    DeviceInfo device;
    device.kind = kind;
    device.l2_bytes = std::size_t{1} << 16;
    return device;
}

TEST(LaunchCosts, WhatMeasuringAddsIsNoPartOfALaunch) {
    const LaunchCosts costs = launch_costs(3000, 3000 + 7 * 1200, 8);
    EXPECT_DOUBLE_EQ(costs.launch_ns, 1200);
    EXPECT_DOUBLE_EQ(costs.measuring_ns, 1800);
}

TEST(LaunchCosts, NoMoreIsTakenOffThanWasMeasured) {
    for (const auto& [one, many] : {std::pair(3000.0, 90'000.0), {3000.0, 2000.0}, {0.0, 0.0}, {0.0, 5000.0}}) {
        const LaunchCosts costs = launch_costs(one, many, 8);
        EXPECT_GE(costs.measuring_ns, 0) << one << " " << many;
        EXPECT_LE(costs.measuring_ns, one) << one << " " << many;
        EXPECT_GT(costs.launch_ns, 0) << one << " " << many;
    }
}

struct Way {
    DeviceKind kind;
    Caches caches;
};

class ShortRuns : public testing::TestWithParam<Way> {};

TEST_P(ShortRuns, HaveAResolutionAndNoLesserTime) {
    const auto sampler = make_sampler(device_of(GetParam().kind), GetParam().caches);
    EXPECT_GT(sampler->resolution_ns(1), 0) << "what takes no time has this one";
    EXPECT_LE(sampler->resolution_ns(4096), sampler->resolution_ns(1));
    std::vector<TimedCandidate> candidates(1);
    candidates[0].run = [] {};
    candidates[0].estimate_ns = 1;
    Undisturbed conditions;
    ProgressPage progress;
    time_in_rounds(candidates, *sampler, conditions, {.noise = 1e-12, .seconds = 0.5}, progress);
    ASSERT_GE(candidates[0].samples_ns.size(), kLeastRounds);
    // A GPU's run takes no less than an empty launch.
    const double least = GetParam().kind == DeviceKind::cuda ? sampler->resolution_ns(1) : 0;
    for (const double sample : candidates[0].samples_ns) {
        EXPECT_GT(sample, 0);
        EXPECT_GE(sample, std::round(100 * least) / 100) << "as many digits as are recorded";
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, ShortRuns,
                         testing::Values(Way{DeviceKind::cpu, Caches::warm}, Way{DeviceKind::cpu, Caches::cold},
                                         Way{DeviceKind::cuda, Caches::warm}, Way{DeviceKind::cuda, Caches::cold},
                                         Way{DeviceKind::cuda, Caches::clean}));

}  // namespace
}  // namespace espalier::bench
