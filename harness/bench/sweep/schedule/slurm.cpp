#include "harness/bench/sweep/schedule/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "harness/base/text/printable.hpp"
#include "harness/bench/families/family.hpp"

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
        if (const auto blank = option.find_first_of(" \t");
            !option.starts_with("-") || (blank != std::string::npos && blank < option.find('=')))
            throw BadProblem("'" + option + "' is no option of sbatch in one word: write --sbatch=--partition=gpu");
}

/// One option of sbatch as a line of a script, whose words sbatch takes apart as a shell does: one that holds nothing
/// special stays as it reads best.
std::string directive(const std::string& option) {
    constexpr std::string_view kPlain = "_-+=:,./@%";
    const std::string word = shell_word(option);
    if (word.size() > 4096) throw BadProblem("an option of sbatch is longer than 4096 bytes");
    const bool plain = std::ranges::all_of(option, [&](unsigned char c) {
        return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
    });
    return "#SBATCH " + (plain ? option : word) + "\n";
}

/// A path as sbatch takes names of logs, in which % begins what it replaces.
std::string log_path(const std::filesystem::path& folder, std::string_view name) {
    std::string path;
    for (const char c : folder.string()) path.append(c == '%' ? 2 : 1, c);
    return path.append("/").append(name);
}

std::string directives(const SlurmJob& job, std::string_view name, std::string_view log) {
    std::string text = fmt::format("#!/bin/sh\n#SBATCH --job-name={}\n", name);
    text += directive("--output=" + log_path(job.journal / "slurm", log));
    for (const std::string& option : job.options) text += directive(option);
    return text;
}

}  // namespace

std::string shell_word(const std::string& text) {
    if (printable(text, std::string::npos) != text)
        throw BadProblem("'" + text +
                         "' cannot stand in a batch script: it holds a line's end, a control character or "
                         "bytes that are no UTF-8: leave it out, or name another folder");
    std::string result = "'";
    for (const char c : text) {
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
