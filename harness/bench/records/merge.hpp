#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/results.hpp"

namespace espalier::bench {

struct MergeOptions {
    bool allow_drivers = false;  ///< pool records of different driver or runtime versions
    bool allow_builds = false;   ///< pool records of different builds
    bool allow_caches = false;   ///< pool cold, clean and warm records
    bool replace = false;        ///< start over: do not keep what the results folder already has
    bool supersede = false;      ///< leave out what may not be pooled with the latest session's records
    bool latest_plan = false;    ///< missing is what the latest sweep planned and did not record, whatever others did
};

struct MergeReport {
    std::string device_key;
    std::size_t cases = 0;
    std::size_t kept = 0;               ///< of these, from the results folder as it was
    std::size_t superseded = 0;         ///< records of other machines, drivers, builds or cache modes, left out
    std::size_t unpaired_problems = 0;  ///< whose cases come from more than one session
    std::size_t kept_wrong = 0;         ///< `wrong` once, `ok` later, of the same source: stays wrong
    std::vector<MissingCases> missing;
    std::vector<std::string> warnings;  ///< damage and the like, for stderr
    /// A sentence per journal of which more is damaged than its writers can have torn; of all devices in the first.
    std::vector<std::string> damaged;
};

/// Merges journals (files, or folders of .jsonl files) into `root`/<device-key>/, one folder per device.
/// Of several records of a case the latest session's counts, but a measured one is never replaced by one
/// that is `not_measured`. One with a sample at or below zero becomes `not_measured`, and one whose time cannot be true
/// otherwise is left out, both with a warning. Throws `BadData` rather than pool different machines under one device
/// key, different drivers or different builds, or forget results for the rest of a damaged journal.
std::vector<MergeReport> merge_journals(const std::vector<std::filesystem::path>& inputs,
                                        const std::filesystem::path& root, const MergeOptions& options);

/// Equal for records of one case that the same code ran in the same way: whose sources, driver, runtime, build and
/// cache mode are the same.
std::string code_identity(const CaseRecord& record);

/// Pools what the journals alone hold of each device; reads and writes no results. Damage goes to `warnings`.
std::vector<DeviceResults> pool_journals(const std::vector<std::filesystem::path>& inputs, const MergeOptions& options,
                                         std::vector<std::string>& warnings);

/// The record of each case that merging keeps, by its key. The records must outlive it.
std::map<std::string, const CaseRecord*> latest_by_case(std::span<const CaseRecord> records);

/// The report in lines for a person; long lists are cut short.
std::string describe(const MergeReport& report, const std::filesystem::path& root);

}  // namespace espalier::bench
