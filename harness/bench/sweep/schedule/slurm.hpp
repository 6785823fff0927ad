#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace espalier::bench {

/// A sweep as a Slurm job array: one task per shard. All paths must be seen by every node.
struct SlurmJob {
    int shards = 2;
    std::vector<std::string> sweep;    ///< options of `espalier sweep` beside those that the array sets
    std::vector<std::string> options;  ///< of sbatch, e.g. "--partition=gpu"
    std::filesystem::path program;     ///< this one, absolute
    std::filesystem::path journal;     ///< folder of the journals, absolute
    std::filesystem::path results;     ///< where the journals are merged into, absolute
};

/// The batch script of the array. A task that is preempted, requeued or run again goes on where its journal
/// ends. Throws `BadProblem` for options that the array sets itself and for text that a script cannot hold.
std::string array_script(const SlurmJob& job);

/// `text` as one word of a shell command. Throws `BadProblem` for one that is not printable, lines' ends among it.
std::string shell_word(const std::string& text);

/// The batch script of the job that merges the shards' journals.
std::string merge_script(const SlurmJob& job);

}  // namespace espalier::bench
