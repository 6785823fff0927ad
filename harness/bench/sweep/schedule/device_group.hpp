#pragma once

#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/sweep/record/resume.hpp"
#include "harness/bench/sweep/schedule/device_lock.hpp"
#include "harness/bench/sweep/schedule/device_loop.hpp"
#include "harness/bench/sweep/schedule/sweep.hpp"

namespace espalier::bench {

using Workers = std::vector<std::unique_ptr<SupervisedWorker>>;

/// Equal devices of this host, swept together: one plan, one queue, and for each device a worker and a journal.
class DeviceGroup {
public:
    /// The workers have said hello, all with the same device key, driver and runtime. `sharing` workers of this sweep
    /// share the host's memory.
    DeviceGroup(const SweepOptions& options, Workers workers, std::size_t sharing, const std::string& session);

    [[nodiscard]] DryRun estimate() const;

    /// Takes the devices for this process. Throws as `DeviceLock` does.
    void lock_devices(DeviceLock& lock) const;

    /// Throws `NoUsableDevice` if the options ask for counters that there are not.
    void require_counters();
    /// Once for all of the group: the devices are equal.
    void measure_ceilings(SweepProgress& progress, QuietWatch& quiet);
    /// Opens the journals and the queue.
    void begin(double start, SweepProgress& progress);

    [[nodiscard]] std::size_t workers() const { return lanes_.size(); }
    /// Measures with one of the workers until nothing is left, each from a thread of its own. Throws nothing.
    void run(std::size_t lane, SweepProgress& progress, QuietWatch& quiet);

    /// When all workers have returned: what ended them, other than the loss of a device.
    [[nodiscard]] std::vector<std::exception_ptr> errors() const;
    [[nodiscard]] SweepSummary summary(double start) const;

private:
    struct Lane {
        std::unique_ptr<SupervisedWorker> worker;
        std::filesystem::path path;
        std::unique_ptr<JournalWriter> journal;
        WorkerSummary summary;
        std::exception_ptr error;
    };

    [[nodiscard]] bool counts_only() const;
    [[nodiscard]] double expected_seconds() const;
    [[nodiscard]] double counting_forecast() const;
    [[nodiscard]] std::size_t counter_passes() const;
    [[nodiscard]] PlanRecord plan_record() const;
    [[nodiscard]] std::filesystem::path journal_path(std::size_t lane) const;

    const SweepOptions& options_;
    std::vector<Lane> lanes_;
    RecordFrame frame_;
    SweepPlan plan_;
    std::vector<std::filesystem::path> earlier_;  ///< journals that the sweep goes on from
    Recorded recorded_;
    StatusCount statuses_;
    std::unique_ptr<ProblemQueue> queue_;
    std::size_t first_number_ = 0;  ///< of the group's workers in the progress line
    TimeSpent spent_;               ///< by the group itself
};

}  // namespace espalier::bench
