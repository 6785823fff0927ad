#include "harness/cli/sweep_turns.hpp"

#include <algorithm>

#include "harness/base/clock.hpp"
#include "harness/base/stop.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/bench/sweep/schedule/device_lock.hpp"
#include "harness/bench/sweep/worker/devices.hpp"
#include "harness/cli/parse.hpp"

namespace espalier::bench::cli {

void add_share_device(Command& command, MeasuringTimes& times) {
    command
        .add_flag("--share-device", times.share_device,
                  "measure although another sweep measures on the device: their times disturb each other")
        .from_environment("ESPALIER_SHARE_DEVICE");
}

void interpret_times(const MeasuringTimes& times, SweepOptions& options) {
    if (!times.max_time.empty()) options.max_seconds = parse_duration(times.max_time, "--max-time");
    if (times.wait_for_quiet != "0" && times.wait_for_quiet != "0s")
        options.wait_for_quiet_seconds = parse_duration(times.wait_for_quiet, "--wait-for-quiet");
    if (!times.seconds.empty()) options.timing_seconds = parse_duration(times.seconds, "--seconds");
    options.exclusive = !times.share_device;
    options.timeout_seconds = parse_duration(times.timeout, "--timeout");
}

ExitCode in_turns(SweepOptions options, const Turn& turn) {
    ExitCode code = ExitCode::ok;
    const auto turns = devices_named(options.device);
    const double deadline = steady_seconds() + options.max_seconds.value_or(0);
    for (std::size_t i = 0; i < turns.size() && code != ExitCode::interrupted; ++i) {
        if (options.max_seconds)
            options.max_seconds = std::max(0.1, deadline - steady_seconds()) / static_cast<double>(turns.size() - i);
        try {
            code = std::max(code, turn(options, turns[i]));
        } catch (const NoUsableDevice& error) {
            if (turns.size() == 1 && dynamic_cast<const DeviceInUse*>(&error))
                throw Failure(ExitCode::no_device, error.what());
            if (turns.size() == 1)
                throw Failure(ExitCode::no_device, std::string(error.what()) + ". espalier doctor shows what is there");
            to_stderr("espalier: left out: {}\n", error.what());
            code = std::max(code, ExitCode::no_device);
        }
    }
    return code == ExitCode::interrupted ? static_cast<ExitCode>(128 + stop_signal()) : code;
}

}  // namespace espalier::bench::cli
