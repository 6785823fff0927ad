#pragma once

#include <functional>

#include "harness/bench/sweep/worker/case_counters.hpp"
#include "harness/bench/sweep/worker/progress_page.hpp"
#include "harness/bench/sweep/worker/protocol.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// Verifies and times the candidates of one problem in this process and sends what comes of it: an event
/// per candidate that is verified, fails or is timed, and `Done`. Candidates that none of the events
/// name were left out for want of time. False if the process must not be used any more.
bool measure(const protocol::Measure& request, const DeviceInfo& device, CaseCounters& counters, ProgressPage& progress,
             const std::function<void(const protocol::Event&)>& send);

}  // namespace espalier::bench
