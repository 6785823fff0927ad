#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>
#include <vector>

namespace espalier::bench {

/// What the processors that a sweep may use have done so far, in the system's ticks.
struct LoadReading {
    double at = 0;                        ///< steady seconds
    double all = 0, busy = 0, steal = 0;  ///< of these processors; steal is what other guests of the host took
    double own = 0;                       ///< of the sweep's processes
    int processors = 0;
};

/// What others did with them between two readings.
struct Load {
    double seconds = 0;
    double foreign_share = 0, steal_share = 0;  ///< of the processors' time
    int processors = 0;
};

/// Nothing if no tick passed, or the system tells none.
std::optional<Load> load_between(const LoadReading& from, const LoadReading& to);

/// The lines `cpuN` of /proc/stat for these processors, without `at` and `own`. Lines that are no such are skipped.
LoadReading parse_processor_times(std::string_view stat, const std::vector<int>& processors);

/// One process of /proc/<pid>/stat.
struct ProcessTimes {
    pid_t parent = 0;
    double ticks = 0;  ///< its own and those of its children that it has outlived
};
/// Nothing if the text is no such line.
std::optional<ProcessTimes> parse_process_times(std::string_view stat);

/// Reads the processors that the sweep's process may use, and what it and its workers, all of them, used of them.
LoadReading read_load(pid_t sweep);

/// The last readings of this process. The system counts in ticks of 10 ms: what a short moment shows is chance.
class LoadHistory {
public:
    void add(const LoadReading& reading);
    /// The latest of the readings that lie at least half a second before `at`, else the first.
    [[nodiscard]] std::optional<LoadReading> before(double at) const;

private:
    std::vector<LoadReading> readings_;
};

}  // namespace espalier::bench
