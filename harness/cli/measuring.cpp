#include "harness/cli/measuring.hpp"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/base/clock.hpp"
#include "harness/base/stop.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/bench/sweep/schedule/device_lock.hpp"
#include "harness/bench/sweep/worker/devices.hpp"
#include "harness/bench/sweep/worker/processors.hpp"
#include "harness/cli/sweep_report.hpp"

namespace espalier::bench::cli {
namespace {

/// One turn: equal devices, as `devices_named` gives them.
ExitCode measure(const SweepOptions& options, const std::vector<std::string>& devices, const Conclude& conclude) {
    const SweepOutcome outcome = sweep(options, devices);
    ExitCode code = outcome.left_out.empty() ? ExitCode::ok : ExitCode::no_device;
    for (const SweepSummary& summary : outcome.summaries) {
        if (!options.quiet) print_summary(summary);
        if (summary.unfinished) {
            to_stderr("espalier: stopped; what is finished is in {}: go on with --resume\n",
                      fmt::join(summary.journals, " and "));
            code = std::max(code, ExitCode::no_device);
        }
        code = std::max(code, conclude(options, summary, outcome.interrupted));
    }
    if (outcome.interrupted && outcome.summaries.empty()) to_stderr("espalier: stopped before anything was measured\n");
    return outcome.interrupted ? ExitCode::interrupted : code;
}

}  // namespace

void add_measuring_options(CLI::App& command, MeasuringOptions& options) {
    command.add_option("--family", options.sweep.families, "only these families")->delimiter(',');
    command.add_option("--max-time", options.max_time, "stop measuring after this long: 90s, 3m, 1h");
    command.add_option("--seconds", options.seconds,
                       "of timing per problem; default: what the effort is worth, 4s where none is asked for");
    command
        .add_option("--wait-for-quiet", options.wait_for_quiet,
                    "wait for so long in all, and for at most a quarter of --max-time, while other programs use the "
                    "processors; 0 neither waits nor measures again what was disturbed")
        ->envname("ESPALIER_WAIT_FOR_QUIET")
        ->capture_default_str();
    command
        .add_flag("--share-device", options.share_device,
                  "measure although another sweep measures on the device: their times disturb each other")
        ->envname("ESPALIER_SHARE_DEVICE");
    add_number(command, "--seed", options.sweep.seed, "of drawn problems, of inputs and of the order of everything")
        ->capture_default_str();
    command.add_option("--timeout", options.timeout, "give up a case that makes no progress for so long")
        ->capture_default_str();
    command.add_flag("--resume", options.sweep.resume, "skip what the journal already has");
    add_number(command, "--threads", options.threads, "use so many CPU threads; the device's key says so")
        ->check(positive());
    command.add_flag("--dry-run", options.dry_run, "print the cases and the expected time, measure nothing");
    command.add_flag("--quiet", options.sweep.quiet, "no progress, only errors");
    command.add_flag("--json", options.json, "what was found as JSON on stdout");
    set_footer(command, "Ctrl-C once stops between two measurements, twice at once; go on with --resume.");
}

SweepOptions interpret(const MeasuringOptions& measuring) {
    unsetenv("ESPALIER_WISDOM");  // for the workers, too: stages and what is judged are the trees' choices
    SweepOptions options = measuring.sweep;
    if (!measuring.max_time.empty()) options.max_seconds = parse_duration(measuring.max_time, "--max-time");
    if (measuring.wait_for_quiet != "0" && measuring.wait_for_quiet != "0s")
        options.wait_for_quiet_seconds = parse_duration(measuring.wait_for_quiet, "--wait-for-quiet");
    if (!measuring.seconds.empty()) options.timing_seconds = parse_duration(measuring.seconds, "--seconds");
    options.exclusive = !measuring.share_device;
    options.timeout_seconds = parse_duration(measuring.timeout, "--timeout");
    return options;
}

ExitCode measure(const MeasuringOptions& measuring, SweepOptions options, nlohmann::ordered_json& output,
                 const Conclude& conclude) {
    restrict_threads(measuring.threads);
    ExitCode code = ExitCode::ok;
    const auto turns = devices_named(options.device);
    const double deadline = steady_seconds() + options.max_seconds.value_or(0);
    for (std::size_t i = 0; i < turns.size() && code != ExitCode::interrupted; ++i) {
        if (options.max_seconds)
            options.max_seconds = std::max(0.1, deadline - steady_seconds()) / static_cast<double>(turns.size() - i);
        try {
            code = std::max(code, measuring.dry_run ? estimate(options, turns[i], measuring.json, output)
                                                    : measure(options, turns[i], conclude));
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
