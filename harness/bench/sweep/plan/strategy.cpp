#include "harness/bench/sweep/plan/strategy.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::bench {

double equal_share(const SchedulerState& state, std::size_t tasks) {
    if (!std::isfinite(state.seconds_left)) return kUnlimitedSeconds;
    const double left = std::max(state.seconds_left, 0.0);
    const std::size_t workers = std::max<std::size_t>(state.workers, 1);
    const std::size_t turns = std::max<std::size_t>((tasks + workers - 1) / workers, 1);
    return std::clamp(left / static_cast<double>(turns), std::min(kLeastTaskSeconds, left), left);
}

}  // namespace espalier::bench
