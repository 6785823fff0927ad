#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/bench/sweep/plan/options.hpp"
#include "harness/bench/sweep/schedule/sweep.hpp"
#include "harness/cli/command.hpp"

namespace espalier::bench::cli {

/// What every command that measures takes, as it is typed.
struct MeasuringOptions {
    SweepOptions sweep;  ///< what is taken as it is typed
    std::string max_time, seconds, timeout = "60s", wait_for_quiet = "60s";
    int threads = 0;
    bool share_device = false, dry_run = false, json = false;
};

/// Adds them, but for the devices, the variants and the folders, of which every command says something else.
void add_measuring_options(CLI::App& command, MeasuringOptions& options);

/// The options of a sweep with the times read. Throws Failure for what is no time.
SweepOptions interpret(const MeasuringOptions& options);

/// Takes what was measured of one kind of device, finished or not; returns `ok` or what went wrong.
using Conclude = std::function<ExitCode(const SweepOptions&, const SweepSummary&, bool interrupted)>;

/// Measures on the devices in their turns, each with an equal share of the time that is left; ends with the first
/// interruption. A dry run says what would be measured, to `output` as well. A device that cannot be used does not keep
/// the others from it; a Failure is thrown if there is no other. Returns the worst of the codes; for `interrupted`,
/// that of the signal.
ExitCode measure(const MeasuringOptions& measuring, SweepOptions options, nlohmann::ordered_json& output,
                 const Conclude& conclude);

}  // namespace espalier::bench::cli
