// espalier tune: the fastest configuration of a kernel that a T1 file describes, or the fastest variants for the
// problems that a program asks for.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/failure.hpp"
#include "harness/base/files/replaced_file.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/progress.hpp"
#include "harness/base/stop.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/records/csv.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/sweep/worker/devices.hpp"
#include "harness/bench/tune/choose/pick.hpp"
#include "harness/bench/tune/choose/records.hpp"
#include "harness/bench/tune/choose/t4.hpp"
#include "harness/bench/tune/choose/tuning.hpp"
#include "harness/bench/tune/space/launch.hpp"
#include "harness/bench/tune/worker/inputs.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/tune_problems.hpp"
#include "harness/cli/tune_report.hpp"

namespace espalier::bench::cli {
namespace {

using tune::Bench;
using tune::Description;
using tune::Tuning;

struct Arguments {
    std::string description;
    std::string device = "auto", caches = "cold", seconds, timeout = "60s", noise = "0.5%";
    std::string output, records, csv, header;
    tune::TuneOptions tune;
    std::string problems, budget = "0", max_time;
    bool exhaustive = false;
    bool dry_run = false, json = false;
};

tune::TuneOptions interpret(const Arguments& arguments, const Description& description) {
    tune::TuneOptions options = arguments.tune;
    if (!arguments.seconds.empty())
        options.seconds = parse_duration(arguments.seconds, "--seconds");
    else if (description.budget_seconds)
        options.seconds = *description.budget_seconds;
    options.timeout_seconds = parse_duration(arguments.timeout, "--timeout");
    options.noise = parse_share(arguments.noise, "--noise");
    options.caches = caches_named(arguments.caches).value_or(Caches::cold);
    if (arguments.device == "auto" || arguments.device == "executor") {
        options.device = "0";
    } else {
        const auto ordinal = gpu_ordinal(arguments.device);
        if (!ordinal)
            throw Failure(ExitCode::usage,
                          "'" + arguments.device + "' is no device; use auto, a GPU's number or executor");
        options.device = std::to_string(*ordinal);
    }
    return options;
}

/// The executor's times are good for trying a description out: nobody who asked for a GPU gets them.
void check_device(const Arguments& arguments, const DeviceInfo& device) {
    if (device.emulated && arguments.device != "auto" && arguments.device != "executor")
        throw Failure(ExitCode::no_device,
                      "this program was built without CUDA: use --device executor, or build it with the preset cuda");
    if (!device.emulated && arguments.device == "executor")
        throw Failure(ExitCode::no_device, "this program was built for GPUs; the executor is in the build preset host");
    if (device.emulated && !arguments.tune.quiet)
        to_stderr("espalier tune: on the host executor, whose times say nothing about a GPU: good for trying it out\n");
}

void print_plan(const Description& description) {
    for (std::size_t problem = 0; problem < description.sizes.size(); ++problem) {
        const tune::Space space(description, problem);
        constexpr std::size_t kCounted = 1'000'000;
        const auto all = space.all(kCounted);
        const std::string count = all ? counted(static_cast<std::int64_t>(all->size()), "configuration")
                                      : fmt::format("more than {} configurations", kCounted);
        to_stdout("{}: {}, {:.0f} without the conditions\n", description.problem_key(problem), count,
                  space.unrestricted());
        if (all)
            for (const tune::Configuration& one : *all)
                static_cast<void>(tune::launch_shape(description, description.launch, one, problem));
    }
}

void write_file(const std::string& path, const std::string& content) {
    if (path.empty()) return;
    ReplacedFile file(path);
    file.write(content);
    file.commit();
}

void write_outputs(const Arguments& arguments, const Description& description, const Tuning& tuning,
                   const Bench& bench) {
    write_file(arguments.output, tune::t4_results(description, tuning).dump(1) + "\n");
    if (arguments.records.empty() && arguments.csv.empty()) return;
    const std::vector<CaseRecord> records = tune::records_of(description, tuning, bench);
    if (!arguments.csv.empty()) write_file(arguments.csv, to_csv(records));
    if (!arguments.records.empty())
        save_results(std::filesystem::path(arguments.records) / bench.device().key,
                     {.device = bench.device(), .cases = records, .missing = {}});
}

void run_tune_problems(const Arguments& arguments, ExitCode& code) {
    tune_problems({.problems = arguments.problems,
                   .device = arguments.device,
                   .output = arguments.output,
                   .budget = arguments.budget,
                   .max_time = arguments.max_time,
                   .exhaustive = arguments.exhaustive,
                   .dry_run = arguments.dry_run,
                   .json = arguments.json,
                   .quiet = arguments.tune.quiet},
                  code);
}

void run_tune(const Arguments& arguments, ExitCode& code) {
    if (!arguments.problems.empty()) return run_tune_problems(arguments, code);
    if (arguments.description.empty())
        throw Failure(ExitCode::usage, "give the description of a kernel, or the --problems of a program");
    refuse_same_files({{"--output", arguments.output}, {"--csv", arguments.csv}, {"--emit", arguments.header}},
                      {{"the description", arguments.description}});
    const Description description = tune::read_description(arguments.description);
    const tune::TuneOptions options = interpret(arguments, description);
    constexpr std::size_t kMostBytes = std::size_t{1} << 40;
    tune::check_arguments(description, kMostBytes);
    if (arguments.dry_run) return print_plan(description);
    const StopOnSignals stopping;
    Bench bench(description, options);
    check_device(arguments, bench.device());
    Tuning tuning;
    {
        RunProgress progress(options.quiet);
        tuning = tune::tune(description, options, bench,
                            [&](const std::string& what, double share) { progress.show(what, share); });
    }
    write_outputs(arguments, description, tuning, bench);
    std::optional<tune::Pick> pick;
    if (!arguments.header.empty() && !stop_requested()) {
        pick = tune::learn_pick(description, tuning);
        write_file(arguments.header, tune::pick_header(description, *pick, bench.device().key));
    }
    if (arguments.json)
        print_json(tune_summary(description, tuning, bench), 2);
    else if (!options.quiet)
        print_tuning(description, tuning, bench, pick);
    bool none = false;
    for (std::size_t problem = 0; problem < description.sizes.size(); ++problem)
        none |= tuning.best(problem) == nullptr;
    if (none) code = ExitCode::failed_variants;
    if (stop_requested()) code = static_cast<ExitCode>(128 + stop_signal());
}

void add_outputs(CLI::App& command, Arguments& arguments) {
    command.add_option("-o,--output", arguments.output,
                       "write all results here, as JSON in the T4 format; of --problems: wisdom is appended to this "
                       "file (default: the one that ESPALIER_WISDOM names)");
    command.add_option("--records", arguments.records,
                       "write them as records below this folder, which export and show read: FOLDER/<device-key>/");
    command.add_option("--csv", arguments.csv, "write them as CSV, in the columns of export");
    command.add_option("--emit", arguments.header,
                       "learn a tree over the problems' sizes, and write it here as a header of C++17: pick(sizes)");
    command.add_flag("--dry-run", arguments.dry_run,
                     "check the description and count configurations, or list the problems; measure nothing");
    command.add_flag("--json", arguments.json, "print the best configurations as JSON");
    command.add_flag("--quiet", arguments.tune.quiet, "say nothing but errors");
}

/// What is for the problems of a program alone, or for kernels that are described.
void add_problem_options(CLI::App& command, Arguments& arguments) {
    const std::vector<CLI::Option*> of_kernels = command.get_options([](const CLI::Option* option) {
        const std::vector<std::string> both{"output", "device", "dry-run", "json", "quiet", "help"};
        return std::ranges::none_of(
            option->get_lnames(), [&](const std::string& name) { return std::ranges::find(both, name) != both.end(); });
    });
    CLI::Option* const problems = command.add_option(
        "--problems", arguments.problems,
        "in place of a description: the problems of this file, which a program wrote that ran with "
        "ESPALIER_RECORD=FILE; the library's variants are measured for them into wisdom, for those that took longest "
        "first");
    for (CLI::Option* const option : of_kernels) problems->excludes(option);
    command
        .add_option("--budget", arguments.budget,
                    "of --problems: time of the measured runs of a problem (default: 1s, or 50 of its recorded calls "
                    "if they take longer)")
        ->needs(problems);
    command.add_option("--max-time", arguments.max_time, "of --problems: for all together, 10m (default: no limit)")
        ->needs(problems);
    command
        .add_flag("--exhaustive", arguments.exhaustive,
                  "of --problems: every variant and configuration that can run, not only those that trees and forests "
                  "expect to be fast")
        ->needs(problems);
}

}  // namespace

void add_tune(CLI::App& program, ExitCode& code) {
    const auto arguments = std::make_shared<Arguments>();
    tune::TuneOptions& options = arguments->tune;
    CLI::App& command = *program.add_subcommand(
        "tune", "Finds the fastest configuration of a kernel described in T1, or for a program's problems");
    command.add_option("description", arguments->description,
                       "the JSON file of a kernel, its parameters and arguments; or --problems");
    command
        .add_option(
            "--device", arguments->device,
            "auto (GPU 0, or the host executor where this program has no CUDA), a GPU's number, or executor; of "
            "--problems auto (the device that a problem names, else GPU 0 or the CPU), cpu, a GPU, or executor")
        ->capture_default_str();
    command.add_option("--seconds", arguments->seconds,
                       "for everything: 90s, 5m (default: the description's Budget, else 5m)");
    add_number(command, "--all-of", options.exhaustive,
               "measure all configurations of a problem if there are at most so many; search among more")
        ->capture_default_str();
    command.add_option("--noise", arguments->noise, "how well the best ones' ratios are to be known")
        ->capture_default_str();
    command.add_option("--cache", arguments->caches, "what the caches hold before a run")
        ->check(one_of({"cold", "clean", "warm"}))
        ->capture_default_str();
    command.add_option("--compiler", options.compiler, "of a GPU's code: auto is NVRTC, or nvcc where there is none")
        ->check(one_of({"auto", "nvrtc", "nvcc"}))
        ->capture_default_str();
    add_number(command, "--jobs", options.jobs, "compilers at a time (default: one per processor, at most 16)");
    command.add_option("--timeout", arguments->timeout, "give up a configuration that makes no step for so long")
        ->capture_default_str();
    command.add_flag("--counters", options.counters, "collect hardware counters of the best configurations");
    add_number(command, "--seed", options.seed, "of the search and of the order of everything")->capture_default_str();
    add_outputs(command, *arguments);
    add_problem_options(command, *arguments);
    set_footer(command, "Ctrl-C stops; what was measured is written.");
    command.callback([arguments, &code] { run_tune(*arguments, code); });
}

}  // namespace espalier::bench::cli
