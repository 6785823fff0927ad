#include "harness/sweep/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/families/family.hpp"

namespace espalier::bench {
namespace {

void refuse_own_options(const SlurmJob& job) {
    constexpr std::array<std::string_view, 7> own{"--shard", "--resume",  "--output",  "--results",
                                                  "--json",  "--dry-run", "--no-merge"};
    for (const std::string& option : job.sweep)
        if (std::ranges::count(own, std::string_view(option).substr(0, option.find('='))))
            throw BadProblem("the sweep's option " + option +
                             " is set for each shard by espalier slurm: use the options of slurm itself");
    for (const std::string& option : job.options)
        if (!option.starts_with("-"))
            throw BadProblem("'" + option + "' is no option of sbatch: write --sbatch=--partition=gpu");
}

std::string directives(const SlurmJob& job, std::string_view name, std::string_view log) {
    std::string text = fmt::format(
        "#!/bin/sh\n"
        "#SBATCH --job-name={}\n"
        "#SBATCH --output={}\n",
        name, (job.journal / "slurm" / log).string());
    for (const std::string& option : job.options) {
        if (shell_word(option).size() > 4096) throw BadProblem("an option of sbatch is longer than 4096 bytes");
        text += "#SBATCH " + option + "\n";
    }
    return text;
}

}  // namespace

std::string shell_word(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\n' || c == '\r' || c == '\0')
            throw BadProblem("an option of a batch script cannot hold a line's end: leave it out");
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return result + "'";
}

std::string array_script(const SlurmJob& job) {
    refuse_own_options(job);
    std::string text = directives(job, "espalier-sweep", "shard-%a.%A.out");
    // SIGTERM half a minute before the time limit ends the sweep cleanly; the log goes on where it was.
    text += fmt::format(
        "#SBATCH --array=1-{}\n"
        "#SBATCH --requeue\n"
        "#SBATCH --open-mode=append\n"
        "#SBATCH --signal=B:TERM@30\n",
        job.shards);
    // exec: signals must reach the sweep itself, not a shell that waits for it.
    text += fmt::format("exec {} sweep", shell_word(job.program.string()));
    for (const std::string& option : job.sweep) text += " " + shell_word(option);
    text += fmt::format(" --shard \"$SLURM_ARRAY_TASK_ID/{}\" --resume --no-merge --output {}\n", job.shards,
                        shell_word(job.journal.string()));
    return text;
}

std::string merge_script(const SlurmJob& job) {
    return directives(job, "espalier-merge", "merge.%j.out") +
           fmt::format("exec {} merge {} --results {}\n", shell_word(job.program.string()),
                       shell_word(job.journal.string()), shell_word(job.results.string()));
}

}  // namespace espalier::bench
