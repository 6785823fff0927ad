#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/device_info.hpp"

namespace espalier {

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

/// CPU: `foreign_cpu_share` and `steal_cpu_share` are the shares of all processors' time that went to
/// other processes and to other guests of the same host; a round is disturbed if this process was put off a
/// processor. GPU: `sm_clock_mhz` (median), `temperature_c` (highest) and `throttle_reasons` (NVML's bits, of all
/// samples); a round is disturbed if heat or the power supply slowed the device down. What the system does not
/// tell is left out.
std::unique_ptr<Conditions> watch_conditions(const DeviceInfo& device);

}  // namespace espalier
