#pragma once

#include <memory>

#include "harness/bench/records/conditions.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// Watches what else the machine does while something is timed.
class ConditionWatch {
public:
    virtual ~ConditionWatch() = default;

    virtual void begin_round() = 0;

    /// Whether something other than what is timed took the device since `begin_round`, or slowed it down.
    [[nodiscard]] virtual bool disturbed() = 0;

    /// What was seen since the beginning.
    [[nodiscard]] virtual Conditions read() = 0;
};

/// Notes what the processors have done so far. Called before each measurement, it lets a short one be judged by a time
/// that the system's ticks can tell something about.
void note_load();

/// CPU: the shares of the time of the processors that this sweep may use are over half a second at least, and the fixed
/// loop runs beside each round; a round is disturbed if this process was put off a processor. GPU: its clocks, and the
/// load of the host; a round is disturbed if heat or the power supply slowed the device down. What the system does not
/// tell is left out.
std::unique_ptr<ConditionWatch> watch_conditions(const DeviceInfo& device);

}  // namespace espalier::bench
