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
#include "harness/bench/sweep/schedule/sweep.hpp"
#include "harness/bench/sweep/schedule/sweep_progress.hpp"
#include "harness/bench/sweep/worker/problem_run.hpp"
#include "harness/bench/sweep/worker/supervised_worker.hpp"

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

/// Measures task after task on one device, until there is none, and appends what comes of each to the journal.
class DeviceLoop {
public:
    /// `number` is the worker's in the progress line.
    DeviceLoop(const SharedSweep& shared, SupervisedWorker& worker, JournalWriter& journal, RecordFrame frame,
               std::size_t number)
        : shared_(shared), worker_(worker), journal_(journal), frame_(std::move(frame)), number_(number) {
        summary_.device = worker.name();
        if (shared.options.counters == CounterMode::only) earlier_ = latest_by_case(shared.recorded.records);
    }

    /// Throws `NoUsableDevice` if the device is lost, in which case the task is not, and `BadData` if the journal
    /// cannot be written.
    void run();

    [[nodiscard]] const WorkerSummary& summary() const { return summary_; }

private:
    void wait_for_quiet();
    void measure(const Task& task);
    ProblemOutcome run_task(const Task& task, const PlannedProblem& planned);
    void record(const Task& task, const PlannedProblem& planned, const ProblemOutcome& outcome);
    [[nodiscard]] ProblemBudget budget_of(const Task& task) const;
    void tell_failures(const std::vector<CaseRecord>& records);

    SharedSweep shared_;
    SupervisedWorker& worker_;
    JournalWriter& journal_;
    RecordFrame frame_;
    std::size_t number_;
    std::map<std::string, const CaseRecord*> earlier_;  ///< what `--counters only` adds to
    WorkerSummary summary_;
};

}  // namespace espalier::bench
