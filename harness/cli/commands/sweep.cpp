// `espalier sweep`: measures all variants over parameter grids on this machine's devices.

#include "harness/bench/sweep/schedule/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/merge.hpp"
#include "harness/bench/report/winners.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/measured_devices.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/parse.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/suites.hpp"
#include "harness/cli/sweep_report.hpp"

namespace espalier::bench::cli {
namespace {

/// Options as they are typed.
struct Arguments {
    MeasuringOptions measuring;
    std::string effort = "standard", cache = "auto", verify = "auto", counters = "auto";
    std::string noise = "0.5%", shard, suite, results, problems;
    std::vector<std::string> axes, tables;
    int drawn = 0;
    bool no_merge = false, no_ceilings = false, quick = false;
};

SweepOptions interpret(const Arguments& arguments) {
    SweepOptions options = interpret(arguments.measuring);
    options.results_folder = results_to_write(arguments.results);
    options.effort = arguments.effort == "quick"  ? Effort::quick
                     : arguments.effort == "full" ? Effort::full
                                                  : Effort::standard;
    options.caches = caches_named(arguments.cache);
    const bool once = arguments.verify == "once" || (arguments.verify == "auto" && arguments.drawn > 0);
    options.verification = once                         ? Verification::once
                           : arguments.verify == "full" ? Verification::full
                                                        : Verification::budgeted;
    options.counters = arguments.counters == "off"       ? CounterMode::off
                       : arguments.counters == "require" ? CounterMode::require
                       : arguments.counters == "only"    ? CounterMode::only
                                                         : CounterMode::automatic;
    if (arguments.quick) options.effort = Effort::quick;
    options.noise = parse_share(arguments.noise, "--noise");
    if (!arguments.shard.empty()) std::tie(options.shard, options.shards) = parse_shard(arguments.shard);
    for (const auto& axis : arguments.axes) options.axes.push_back(parse_axis(axis));
    if (arguments.drawn > 0) draw_from_domains(options, static_cast<std::size_t>(arguments.drawn));
    if (arguments.suite == "published") {
        choose_published(options, arguments.tables);
        options.forecast_folder = options.results_folder;
        options.results_folder /= "published";
        if (options.journal_folder == SweepOptions{}.journal_folder) options.journal_folder /= "published";
    }
    if (arguments.suite == "recorded") choose_recorded(options);
    if (!arguments.problems.empty()) choose_listed(options, arguments.problems);
    options.merge = !arguments.no_merge;
    options.ceilings = !arguments.no_ceilings;
    if (options.counters == CounterMode::only && !options.problems && options.axes.empty())
        choose_what_explains(options);
    return options;
}

/// The winners of what the sweep recorded; all of them if they are few.
void print_winners(const SweepSummary& summary) {
    constexpr std::size_t kShown = 30;
    std::vector<CaseRecord> records;
    for (const std::string& journal : summary.journals)
        for (CaseRecord& record : load_journal(journal).cases)
            if (record.provenance.device_key == summary.device_key) records.push_back(std::move(record));
    std::vector<const CaseRecord*> cases;
    for (const auto& [key, record] : latest_by_case(records)) cases.push_back(record);
    to_stdout("{}", report::winners_table(report::find_winners(cases), kShown));
}

void merge_after(const SweepOptions& options, const SweepSummary& summary) {
    const std::vector<std::filesystem::path> journals(summary.journals.begin(), summary.journals.end());
    MergeOptions merging;
    if (options.counters == CounterMode::only)  // which adds to the records that are there, whatever they are of
        merging.allow_drivers = merging.allow_builds = merging.allow_caches = true;
    for (const MergeReport& report : merge_journals(journals, options.results_folder, merging))
        if (!options.quiet) to_stderr("{}", describe(report, options.results_folder));
}

void run(const Arguments& arguments, ExitCode& code) {
    auto output = nlohmann::ordered_json::array();
    const bool json = arguments.measuring.json;
    const auto conclude = [&](const SweepOptions& options, const SweepSummary& summary, bool interrupted) {
        output.push_back(to_json(summary, interrupted));
        if (options.merge && !summary.unfinished) merge_after(options, summary);
        if (!json && !options.quiet) print_winners(summary);
        if (summary.unfinished) return ExitCode::no_device;
        const bool lost = std::ranges::any_of(summary.workers, [](const WorkerSummary& w) { return !w.lost.empty(); });
        return lost ? ExitCode::no_device : summary.failed() ? ExitCode::failed_variants : ExitCode::ok;
    };
    code = measure(arguments.measuring, interpret(arguments), output, conclude);
    if (json) print_json(output, 2);
}

/// The options that say which problems are measured.
void add_problem_options(CLI::App& command, Arguments& arguments) {
    CLI::Option* const axes =
        command.add_option("-p,--problem", arguments.axes, "axis=value,value: instead of the default problems' values");
    CLI::Option* const suite =
        command
            .add_option(
                "--suite", arguments.suite,
                "a named list of problems and choices instead of the default ones; published: those whose "
                "figures the source documents print, merged into RESULTS/published; recorded: all that RESULTS has "
                "of the device, for a new --variant")
            ->check(one_of({"published", "recorded"}))
            ->excludes(axes);
    command.add_option("--table", arguments.tables, "of --suite published only the cases of these tables: K12,S5")
        ->delimiter(',')
        ->needs(suite);
    add_number(command, "--drawn", arguments.drawn,
               "so many problems drawn from each family's domain instead of the default ones; more are the same ones "
               "and further ones")
        ->check(positive())
        ->excludes(axes)
        ->excludes(suite);
    command
        .add_option("--problems", arguments.problems,
                    "those of this file, which a program wrote that ran with ESPALIER_RECORD=FILE; the ones that took "
                    "it longest first")
        ->excludes(axes)
        ->excludes(suite)
        ->excludes("--drawn");
}

}  // namespace

void add_sweep(CLI::App& program, ExitCode& code) {
    static Arguments arguments;
    SweepOptions& options = arguments.measuring.sweep;
    CLI::App& command =
        *program.add_subcommand("sweep", "Measure all variants over parameter grids on this machine's devices");
    command
        .add_option("--device", options.device,
                    "cpu, a GPU as 0 or cuda:0, several with commas between them, or all: GPUs at once, then the CPU")
        ->capture_default_str();
    add_measuring_options(command, arguments.measuring);
    command.add_option("--variant", options.variants, "only these variants: name or family/name")->delimiter(',');
    command.add_option("--effort", arguments.effort, "how many problems, and how long each")
        ->check(one_of({"quick", "standard", "full"}))
        ->capture_default_str();
    command.add_flag("--quick", arguments.quick, "the same as --effort quick");
    add_problem_options(command, arguments);
    command.add_option("--noise", arguments.noise, "precision of the ratios to aim for")->capture_default_str();
    command.add_option("--shard", arguments.shard, "i/n: only the i-th of n parts of the problems");
    command
        .add_option("--cache", arguments.cache,
                    "before each run; cold: flushed by writing, so that a run writes back what "
                    "lies there; clean: by reading; warm: as they are; auto: cold on GPUs, "
                    "warm on the CPU")
        ->check(one_of({"auto", "cold", "clean", "warm"}))
        ->capture_default_str();
    command
        .add_option(
            "--verify", arguments.verify,
            "once: a run before and after timing; full: the oracle computes even what takes it minutes; auto: once for "
            "--drawn, whose variants the default problems verify, else budget")
        ->check(one_of({"auto", "once", "budget", "full"}))
        ->capture_default_str();
    command
        .add_option("--counters", arguments.counters,
                    "hardware counters, in a pass of their own; only: those that records on file lack, without timing "
                    "anything again: where no problems are named, of the documented variants on 40 problems of each "
                    "family and of what each leaf of the trees chooses")
        ->check(one_of({"off", "auto", "require", "only"}))
        ->capture_default_str();
    command.add_flag("--no-ceilings", arguments.no_ceilings,
                     "do not measure the device's ceilings: seconds less, but no rooflines, and no time is too good to "
                     "be true");
    command.add_option("--output", options.journal_folder, "folder of the journals")->capture_default_str();
    command.add_option("--results", arguments.results, kResultsToWriteHelp);
    command.add_flag("--no-merge", arguments.no_merge, "leave the results folder alone");
    command.callback([&code] { run(arguments, code); });
}

}  // namespace espalier::bench::cli
