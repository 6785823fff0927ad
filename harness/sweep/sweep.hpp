#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/records/case_record.hpp"
#include "harness/records/merge.hpp"
#include "harness/sweep/options.hpp"

namespace espalier {

/// The device asked for is not there; `what()` says why and what to do.
class NoUsableDevice : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a sweep of one device did, and where its time went.
struct SweepSummary {
    std::string device_key, session, journal;
    std::size_t problems = 0, cases = 0, resumed_cases = 0;
    std::map<Status, std::size_t> statuses;  ///< of the cases that this run recorded
    double wall_seconds = 0;
    double timing_seconds = 0, verification_seconds = 0, counting_seconds = 0, ceilings_seconds = 0;
    double lost_seconds = 0;  ///< to cases that took the worker along
    bool interrupted = false;

    /// Share of the wall time that went neither into measuring nor into verifying.
    [[nodiscard]] double overhead_share() const;
    /// Cases that were wrong, crashed, timed out or ran out of memory.
    [[nodiscard]] std::size_t failed() const;
};

/// Measures what the options ask for on one device and appends it to its journal, a problem at a time.
SweepSummary sweep(const SweepOptions& options);

/// What `sweep` would measure, and about how long it would take.
struct DryRun {
    std::string device_key;
    std::size_t problems = 0, cases = 0, unsupported = 0;
    double expected_seconds = 0;
    std::vector<std::string> keys;  ///< of the cases, "family/variant|problem|configuration"
};
DryRun dry_run(const SweepOptions& options);

}  // namespace espalier
