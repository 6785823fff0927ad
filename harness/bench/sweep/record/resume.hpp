#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/bench/sweep/plan/plan.hpp"
#include "harness/bench/sweep/record/case_records.hpp"

namespace espalier::bench {

/// What is known of a plan before it is measured.
struct Recorded {
    std::vector<std::size_t> open;    ///< problems that are not complete
    std::vector<std::size_t> urgent;  ///< those without any outcome of a needed case, or of half of those that can run
    std::vector<CaseRecord> records;  ///< of the plan's cases, measured as they would be now
    std::size_t complete_cases = 0;   ///< of the problems that are complete
};

/// Nothing.
Recorded nothing_recorded(const SweepPlan& plan);

/// All journals of a device in a folder, whatever number of devices and shards wrote them, sorted.
std::vector<std::filesystem::path> journals_of(const std::filesystem::path& folder, const std::string& device_key);

/// What journals have. A problem is complete when every case of it is there, from the same sources, driver, runtime,
/// build and cache mode, with an outcome other than `not_measured`, and, if `quiet_ones_only`, the latest of each not
/// disturbed. Ceilings that are there go to the frame's device:
/// between the parts of one sweep they should not change.
Recorded what_is_recorded(const std::vector<std::filesystem::path>& journals, const SweepPlan& plan, RecordFrame& frame,
                          bool quiet_ones_only = false);

}  // namespace espalier::bench
