#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// Watches what else the machine does while something is timed.
class Conditions {
public:
    virtual ~Conditions() = default;

    virtual void begin_round() = 0;

    /// Whether something other than what is timed took the device since `begin_round`, or slowed it down.
    [[nodiscard]] virtual bool disturbed() = 0;

    /// What there is to report, by name, since the beginning.
    [[nodiscard]] virtual std::vector<std::pair<std::string, double>> read() = 0;
};

/// Notes what the processors have done so far. Called before each measurement, it lets a short one be judged by a time
/// that the system's ticks can tell something about.
void note_load();

/// CPU: `foreign_cpu_share` and `steal_cpu_share` are the shares of the time of the `processors` that this sweep may
/// use that went to processes of others and to other guests of the same host, over half a second at least;
/// `clock_share` is the speed of a fixed loop beside each round, of its fastest in this process; a round is disturbed
/// if this process was put off a processor. GPU: `sm_clock_mhz` (median), `temperature_c` (highest) and
/// `throttle_reasons` (NVML's bits, of all samples), and `host_foreign_share` and `host_steal_share` of the host; a
/// round is disturbed if heat or the power supply slowed the device down. What the system does not tell is left out.
std::unique_ptr<Conditions> watch_conditions(const DeviceInfo& device);

}  // namespace espalier::bench
