#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/records/case_record.hpp"
#include "harness/bench/records/disturbance.hpp"
#include "harness/bench/sweep/plan/options.hpp"
#include "harness/bench/sweep/record/time_spent.hpp"

namespace espalier::bench {

/// What one device of a sweep did.
struct WorkerSummary {
    std::string device, journal;
    std::size_t problems = 0, cases = 0;  ///< measured by it, those twice that were measured again
    double wall_seconds = 0;              ///< from its first task until there was none
    TimeSpent spent;
    std::string lost;  ///< why it did not go on to the end
};

/// What a sweep of equal devices did, and where the time of all of them went.
struct SweepSummary {
    std::string device_key, session;
    std::vector<WorkerSummary> workers;
    std::vector<std::string> journals;  ///< that hold the sweep, earlier parts of it included
    std::size_t problems = 0, cases = 0, resumed_cases = 0;
    std::map<Status, std::size_t> statuses;           ///< of the cases that this run recorded
    std::map<std::string, std::size_t> not_measured;  ///< of these, cases by the reason
    std::size_t disturbed_problems = 0;               ///< of those that this run recorded
    std::optional<Disturbance> disturbance;           ///< what is typical of these
    double wall_seconds = 0;
    TimeSpent spent;          ///< by all devices together
    bool unfinished = false;  ///< problems are left, because of the user or for want of a device

    /// Share of the devices' wall-clock time that went neither into measuring nor into verifying.
    [[nodiscard]] double overhead_share() const;
    /// Cases that were wrong, crashed, timed out or ran out of memory.
    [[nodiscard]] std::size_t failed() const;
    /// What a user should know before using the results, a sentence each.
    [[nodiscard]] std::vector<std::string> warnings() const;
};

/// What became of a sweep.
struct SweepOutcome {
    std::vector<SweepSummary> summaries;  ///< one for each kind of device
    std::vector<std::string> left_out;    ///< why devices could not be used at all
    bool interrupted = false;             ///< by the user
};

/// Measures what the options ask for on all of the devices at once ("cpu", or GPUs by number; the options' own device
/// is not looked at) and appends it to journals, a problem at a time. Equal devices take their problems from one queue.
/// A device that cannot be used, or no longer, leaves its part to the others. Throws `NoUsableDevice` if there is none
/// to begin with, `DeviceInUse` if it is to be exclusive and is not, and `BadData` if a journal cannot be written.
SweepOutcome sweep(const SweepOptions& options, const std::vector<std::string>& devices);

/// What `sweep` would measure on equal devices, and about how long it would take.
struct DryRun {
    std::string device_key;
    std::size_t devices = 0, problems = 0, cases = 0, unsupported = 0;
    double expected_seconds = 0;
    std::vector<std::string> keys;  ///< of the cases, "family/variant|problem|configuration"
};
/// Devices that cannot be used go to `left_out`, unless that is all of them.
std::vector<DryRun> dry_run(const SweepOptions& options, const std::vector<std::string>& devices,
                            std::vector<std::string>& left_out);

}  // namespace espalier::bench
