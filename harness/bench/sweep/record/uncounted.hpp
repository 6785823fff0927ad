#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/sweep/plan/strategy.hpp"
#include "harness/bench/sweep/record/resume.hpp"

namespace espalier::bench {

/// What a device's results folder and journals have of these families (none: of all), in any order; a case may occur
/// several times. Neither the folder nor a journal has to be there.
std::vector<CaseRecord> records_on_file(const std::filesystem::path& results,
                                        const std::vector<std::filesystem::path>& journals,
                                        std::span<const std::string> families = {});

/// The records on file of a plan's cases that counters of today's code may be added to: those with a time, of the
/// frame's cache mode and of the sources of this build, or of earlier ones that `known_stale.json` in the results says
/// run the same. Their driver and build may be others. Ceilings that are on file go to the frame's device. Nothing is
/// open: the problems are not timed again.
Recorded what_can_be_counted(const std::filesystem::path& results, const std::vector<std::filesystem::path>& journals,
                             const SweepPlan& plan, RecordFrame& frame);

/// The cases that are timed but have no counters, problem by problem.
std::vector<Task> without_counters(const SweepPlan& plan, const Recorded& recorded);

/// How long it takes to count the tasks' cases in so many passes, from the times on file, in seconds.
double counting_seconds(const SweepPlan& plan, const Recorded& recorded, std::span<const Task> tasks,
                        std::size_t passes);

/// How many cases of so many lack counters, and for how long they will be counted, for people.
std::string describe_uncounted(const std::string& device_key, const Recorded& recorded, std::span<const Task> tasks,
                               std::size_t passes, double seconds);

}  // namespace espalier::bench
