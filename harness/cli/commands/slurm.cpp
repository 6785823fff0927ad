// `espalier slurm`: a sweep spread over a cluster as a job array, and a job that merges what it measured.

#include "harness/bench/sweep/schedule/slurm.hpp"

#include <fmt/format.h>

#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/base/files/started_program.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/records/atomic_file.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/measured_devices.hpp"
#include "harness/cli/print_json.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
    SlurmJob job;
    std::string journal = "results/journal", results;  ///< empty: the default
    bool dry_run = false, no_merge = false, json = false;
};

/// The id of the job that sbatch made of the script; its errors go to our stderr.
std::string submit(const fs::path& script, const std::vector<std::string>& options) {
    std::vector<std::string> words{"sbatch", "--parsable"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(script.string());
    const std::string said = run_to_end({.words = words, .output = ProgramCall::Output::captured}).output;
    // "17" or "17;cluster"
    std::string id;
    for (const char c : said) {
        if (!std::isdigit(static_cast<unsigned char>(c))) break;
        id += c;
    }
    if (id.empty())
        throw Failure(ExitCode::no_device,
                      "sbatch did not take " + script.string() +
                          ": run this where sbatch is on the PATH and its cluster up; --dry-run only shows the script");
    return id;
}

void run(Arguments arguments) {
    SlurmJob& job = arguments.job;
    std::error_code error;
    job.program = fs::read_symlink("/proc/self/exe", error);
    job.journal = fs::absolute(arguments.journal).lexically_normal();
    job.results = fs::absolute(results_to_write(arguments.results)).lexically_normal();
    const std::string array = array_script(job), merge = merge_script(job);
    if (arguments.dry_run) {
        to_stdout("{}{}", array, arguments.no_merge ? "" : "\n" + merge);
        return;
    }
    const fs::path folder = job.journal / "slurm";
    write_file_atomically(folder / "sweep.sbatch", array);
    const std::string id = submit(folder / "sweep.sbatch", {});
    std::string merge_id;
    if (!arguments.no_merge) {
        write_file_atomically(folder / "merge.sbatch", merge);
        // Whatever became of the shards: merging reports the missing cases.
        merge_id = submit(folder / "merge.sbatch", {"--dependency=afterany:" + id});
    }
    if (arguments.json)
        print_json(nlohmann::ordered_json{{"array_job", id},
                                          {"merge_job", merge_id},
                                          {"shards", job.shards},
                                          {"journal", job.journal.string()},
                                          {"results", job.results.string()}},
                   2);
    else
        to_stdout("array job {} of {} shards{}\n", id, job.shards,
                  merge_id.empty() ? ""
                                   : fmt::format(", then job {} merges them into {}", merge_id,
                                                 results_to_write(arguments.results)));
    to_stderr("logs and scripts are in {}; a shard that ends early goes on with the same command again\n",
              folder.string());
}

}  // namespace

void add_slurm(CLI::App& program, ExitCode&) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App& command =
        *program.add_subcommand("slurm", "Submit a sweep to a Slurm cluster as a job array, one task per shard");
    add_number(command, "--shards", arguments->job.shards, "tasks of the array, each with its part of the problems")
        ->check(within(1, 100'000))
        ->capture_default_str();
    command
        .add_option("--sbatch", arguments->job.options,
                    "an option for sbatch, may be repeated: --sbatch=--partition=gpu --sbatch=--gres=gpu:1")
        ->allow_extra_args(false)  // or it would take the "--" that follows it
        ->type_name("OPTION");
    command.add_option("--output", arguments->journal, "folder of the journals, which every node must see")
        ->capture_default_str();
    command.add_option("--results", arguments->results, kResultsToWriteHelp);
    command.add_flag("--no-merge", arguments->no_merge, "submit no job that merges");
    command.add_flag("--dry-run", arguments->dry_run, "print the scripts, submit nothing");
    command.add_flag("--json", arguments->json, "the jobs' ids as JSON");
    command.add_option("sweep", arguments->job.sweep, "after --: options of espalier sweep")->type_name("OPTION");
    set_footer(command,
               "For example: espalier slurm --shards 8 --sbatch=--gres=gpu:1 -- --device 0 --effort full\n"
               "Shards that were preempted, requeued or submitted again go on where their journals end.");
    command.callback([arguments] { run(*arguments); });
}

}  // namespace espalier::bench::cli
