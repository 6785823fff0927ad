#include "harness/bench/sweep/worker/calibration_loop.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "harness/base/clock.hpp"

namespace espalier::bench {
namespace {

double& fastest_of_process() {
    static double fastest = std::numeric_limits<double>::infinity();
    return fastest;
}

double timed_loop() {
    constexpr int kSteps = 16'384;  // of a multiplication and an addition: about 30 us
    static volatile std::uint64_t sink = 1;
    std::uint64_t value = sink;
    const double start = steady_seconds();
    for (int i = 0; i < kSteps; ++i) value = value * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    sink = value;
    const double nanoseconds = (steady_seconds() - start) * 1e9;
    fastest_of_process() = std::min(fastest_of_process(), nanoseconds);
    return nanoseconds;
}

}  // namespace

CalibrationLoop::CalibrationLoop() {
    for (int i = 0; i < 8; ++i) timed_loop();
}

void CalibrationLoop::run() { nanoseconds_.push_back(timed_loop()); }

double CalibrationLoop::share() const { return clock_share(nanoseconds_, fastest_of_process()); }

double clock_share(std::vector<double> nanoseconds, double fastest) {
    if (nanoseconds.empty()) return 1;
    const auto middle = nanoseconds.begin() + static_cast<std::ptrdiff_t>(nanoseconds.size() / 2);
    std::nth_element(nanoseconds.begin(), middle, nanoseconds.end());
    return std::min(1.0, fastest / *middle);
}

}  // namespace espalier::bench
