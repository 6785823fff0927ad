// `espalier merge`: journals -> results/<device-key>/.

#include "harness/bench/records/merge.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/base/text/to_stderr.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/measured_devices.hpp"
#include "harness/cli/print_json.hpp"

namespace espalier::bench::cli {
namespace {

struct Arguments {
    std::vector<std::string> journals{"results/journal"};
    std::string results;  ///< empty: the default
    std::vector<std::string> allow;
    bool replace = false, supersede = false, latest_plan = false, json = false, quiet = false;
};

MergeOptions interpret(const Arguments& arguments) {
    MergeOptions options{
        .replace = arguments.replace, .supersede = arguments.supersede, .latest_plan = arguments.latest_plan};
    for (const auto& what : arguments.allow) {
        options.allow_drivers |= what == "drivers";
        options.allow_builds |= what == "builds";
        options.allow_caches |= what == "caches";
    }
    return options;
}

nlohmann::ordered_json to_json(const MergeReport& report) {
    auto missing = nlohmann::ordered_json::array();
    for (const MissingCases& each : report.missing)
        missing.push_back({{"family", each.family},
                           {"problem", each.problem},
                           {"shard", each.shard},
                           {"description", each.description}});
    return {{"device_key", report.device_key},
            {"cases", report.cases},
            {"kept", report.kept},
            {"superseded", report.superseded},
            {"kept_wrong", report.kept_wrong},
            {"unpaired_problems", report.unpaired_problems},
            {"holes", std::move(missing)},
            {"warnings", report.warnings}};
}

void run(const Arguments& arguments) {
    const std::string results = results_to_write(arguments.results);
    const std::vector<std::filesystem::path> inputs(arguments.journals.begin(), arguments.journals.end());
    auto output = nlohmann::ordered_json::array();
    std::vector<std::string> damaged;
    for (const MergeReport& report : merge_journals(inputs, results, interpret(arguments))) {
        damaged.insert(damaged.end(), report.damaged.begin(), report.damaged.end());
        output.push_back(to_json(report));
        if (!arguments.quiet) to_stderr("{}", describe(report, results));
    }
    if (output.empty())
        throw Failure(ExitCode::bad_data,
                      "nothing is merged: the journals hold no complete record; espalier verify lists what is wrong");
    if (arguments.json) print_json(output, 2);
    if (!damaged.empty())
        throw Failure(
            ExitCode::bad_data,
            fmt::format("{}; what is whole was merged. Restore it (espalier verify lists what is damaged), or "
                        "measure what is missing with espalier sweep --resume, merge that, and move it away",
                        fmt::join(damaged, "; ")));
}

}  // namespace

void add_merge(CLI::App& program, ExitCode&) {
    static Arguments arguments;
    CLI::App& command = *program.add_subcommand("merge", "Merge journals of sweeps into results/<device-key>/");
    command.add_option("journals", arguments.journals, "journal files, or folders of them")->capture_default_str();
    command.add_option("--results", arguments.results, kResultsToWriteHelp);
    command
        .add_option("--allow", arguments.allow,
                    "pool records of different drivers, builds or caches (cold, clean and warm)")
        ->delimiter(',')
        ->check(one_of({"drivers", "builds", "caches"}));
    command.add_flag("--replace", arguments.replace, "forget what the results folder has of these devices");
    command.add_flag("--supersede", arguments.supersede,
                     "leave out records of other machines, drivers, builds or cache modes than the latest");
    command.add_flag("--latest-plan", arguments.latest_plan,
                     "only what the latest sweep had planned may be missing: an earlier one was given up");
    command.add_flag("--json", arguments.json, "what was merged, as JSON on stdout");
    command.add_flag("--quiet", arguments.quiet, "no report on stderr");
    command.callback([] { run(arguments); });
}

}  // namespace espalier::bench::cli
