#include "harness/cli/sweep_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/base/progress.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"

namespace espalier::bench::cli {
namespace {

nlohmann::ordered_json to_json(const WorkerSummary& worker) {
    return {{"device", worker.device}, {"journal", worker.journal},           {"problems", worker.problems},
            {"cases", worker.cases},   {"wall_seconds", worker.wall_seconds}, {"lost", worker.lost}};
}

nlohmann::ordered_json to_json(const DryRun& dry) {
    return {{"device_key", dry.device_key},
            {"devices", dry.devices},
            {"problems", dry.problems},
            {"cases", dry.cases},
            {"unsupported", dry.unsupported},
            {"expected_seconds", dry.expected_seconds},
            {"keys", dry.keys}};
}

}  // namespace

nlohmann::ordered_json to_json(const SweepSummary& summary, bool interrupted) {
    nlohmann::ordered_json statuses = nlohmann::ordered_json::object();
    for (const auto& [status, count] : summary.statuses) statuses[std::string(to_string(status))] = count;
    auto workers = nlohmann::ordered_json::array();
    for (const WorkerSummary& worker : summary.workers) workers.push_back(to_json(worker));
    const TimeSpent& spent = summary.spent;
    return {{"device_key", summary.device_key},
            {"session", summary.session},
            {"journals", summary.journals},
            {"problems", summary.problems},
            {"cases", summary.cases},
            {"resumed_cases", summary.resumed_cases},
            {"statuses", statuses},
            {"not_measured", summary.not_measured},
            {"disturbed_problems", summary.disturbed_problems},
            {"warnings", summary.warnings()},
            {"wall_seconds", summary.wall_seconds},
            {"waiting_seconds", spent.waiting},
            {"timing_seconds", spent.timing},
            {"verification_seconds", spent.verification},
            {"counting_seconds", spent.counting},
            {"ceilings_seconds", spent.ceilings},
            {"lost_seconds", spent.lost},
            {"overhead_share", summary.overhead_share()},
            {"workers", workers},
            {"unfinished", summary.unfinished},
            {"interrupted", interrupted && summary.unfinished}};
}

void print_summary(const SweepSummary& summary) {
    std::string counts;
    for (const auto& [status, count] : summary.statuses)
        counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, to_string(status));
    if (summary.resumed_cases) counts += fmt::format("; {} were there already", summary.resumed_cases);
    const TimeSpent& spent = summary.spent;
    const std::string waiting = spent.waiting > 0 ? fmt::format("waiting for quiet {:.1f} s, ", spent.waiting) : "";
    to_stderr(
        "{}: {} of {} in {}: {}\n"
        "  timing {:.1f} s, verification {:.1f} s, counters {:.1f} s, ceilings {:.1f} s, failures {:.1f} s, "
        "{}overhead {:.1f}%\n",
        summary.device_key, counted(summary.cases, "case"), counted(summary.problems, "problem"),
        duration(summary.wall_seconds), counts, spent.timing, spent.verification, spent.counting, spent.ceilings,
        spent.lost, waiting, 100 * summary.overhead_share());
    for (const WorkerSummary& worker : summary.workers)
        to_stderr("  device {}: {} of {} in {}; journal {}\n", worker.device, counted(worker.cases, "case"),
                  counted(worker.problems, "problem"), duration(worker.wall_seconds), worker.journal);
    for (const std::string& warning : summary.warnings()) to_stderr("espalier: {}: {}\n", summary.device_key, warning);
}

ExitCode estimate(const SweepOptions& options, const std::vector<std::string>& devices, bool json,
                  nlohmann::ordered_json& output) {
    std::vector<std::string> left_out;
    for (const DryRun& dry : dry_run(options, devices, left_out)) {
        for (const auto& key : dry.keys)
            if (!json) to_stdout("{}\n", key);
        to_stderr("{}: {} of {}, {} of them unsupported; about {}{}\n", dry.device_key, counted(dry.cases, "case"),
                  counted(dry.problems, "problem"), dry.unsupported, duration(dry.expected_seconds),
                  dry.devices > 1 ? fmt::format(" with {} devices", dry.devices) : "");
        output.push_back(to_json(dry));
    }
    for (const std::string& why : left_out) to_stderr("espalier: left out: {}\n", why);
    return left_out.empty() ? ExitCode::ok : ExitCode::no_device;
}

}  // namespace espalier::bench::cli
