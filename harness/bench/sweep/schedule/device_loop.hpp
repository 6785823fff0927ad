#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/merge.hpp"
#include "harness/bench/sweep/plan/options.hpp"
#include "harness/bench/sweep/plan/plan.hpp"
#include "harness/bench/sweep/record/case_records.hpp"
#include "harness/bench/sweep/record/resume.hpp"
#include "harness/bench/sweep/record/status_count.hpp"
#include "harness/bench/sweep/schedule/problem_queue.hpp"
#include "harness/bench/sweep/schedule/quiet_watch.hpp"
#include "harness/bench/sweep/schedule/sweep_progress.hpp"
#include "harness/bench/sweep/worker/problem_run.hpp"
#include "harness/bench/sweep/worker/worker_pool.hpp"

namespace espalier::bench {

/// Seconds of timing per problem, verification not counted. What an effort is worth is enough for 8 rounds of a dozen
/// candidates whose samples take a millisecond, and for the slow ones' three.
double timing_seconds(const SweepOptions& options);

/// What the workers of equal devices share.
struct SharedSweep {
    const SweepOptions& options;
    const SweepPlan& plan;
    const Recorded& recorded;
    ProblemQueue& queue;
    StatusCount& statuses;
    SweepProgress& progress;
    QuietWatch* quiet = nullptr;  ///< none: it never waits
};

/// What one worker did, and where its time went.
struct WorkerTotals {
    std::size_t problems = 0, cases = 0;
    double wall_seconds = 0;
    double timing_seconds = 0, verification_seconds = 0, counting_seconds = 0;
    double lost_seconds = 0;     ///< to cases that crashed the worker
    double waiting_seconds = 0;  ///< for quiet
};

/// Measures task after task on one device, until there is none, and appends what comes of each to the journal.
class DeviceLoop {
public:
    /// `worker` is this one's number in the progress line.
    DeviceLoop(const SharedSweep& shared, WorkerPool& pool, JournalWriter& journal, RecordFrame frame,
               std::size_t worker)
        : shared_(shared), pool_(pool), journal_(journal), frame_(std::move(frame)), worker_(worker) {
        if (shared.options.counters == CounterMode::only) earlier_ = latest_by_case(shared.recorded.records);
    }

    /// Throws `NoUsableDevice` if the device is lost, in which case the task is not, and `BadData` if the journal
    /// cannot be written.
    void run();

    [[nodiscard]] const WorkerTotals& totals() const { return totals_; }

private:
    void wait_for_quiet();
    void measure(const Task& task);
    ProblemOutcome run_task(const Task& task, const PlannedProblem& planned);
    void record(const Task& task, const PlannedProblem& planned, const ProblemOutcome& outcome);
    [[nodiscard]] ProblemBudget budget_of(const Task& task) const;
    void tell_failures(const std::vector<CaseRecord>& records);

    SharedSweep shared_;
    WorkerPool& pool_;
    JournalWriter& journal_;
    RecordFrame frame_;
    std::size_t worker_;
    std::map<std::string, const CaseRecord*> earlier_;  ///< what `--counters only` adds to
    WorkerTotals totals_;
};

}  // namespace espalier::bench
