#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/bench/sweep/plan/options.hpp"
#include "harness/cli/command.hpp"

namespace espalier::bench::cli {

/// What every command which measures takes, as it is typed: mostly times.
struct MeasuringTimes {
    std::string max_time, seconds, timeout = "60s", wait_for_quiet = "60s";
    bool share_device = false;
};

/// Adds the option for `share_device`.
void add_share_device(Command& command, MeasuringTimes& times);

/// Reads them into the options. Throws Failure for what is no time.
void interpret_times(const MeasuringTimes& times, SweepOptions& options);

/// What is done with equal devices, as `devices_named` gives them.
using Turn = std::function<ExitCode(const SweepOptions&, const std::vector<std::string>& devices)>;

/// The devices in their turns, each with an equal share of the time that is left; ends with the first interruption. One
/// that cannot be used does not keep the others from it; a Failure is thrown if there is no other. Returns the worst
/// of the codes; for `interrupted`, that of the signal.
ExitCode in_turns(SweepOptions options, const Turn& turn);

}  // namespace espalier::bench::cli
