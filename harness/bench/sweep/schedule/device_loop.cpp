#include "harness/bench/sweep/schedule/device_loop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/clock.hpp"
#include "harness/base/stop.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/bench/sweep/worker/devices.hpp"

namespace espalier::bench {
namespace {

/// A problem that two devices were lost over is not tried on a third.
ProblemOutcome quarantined(const PlannedProblem& planned, const std::string& how) {
    const std::string reason =
        "in quarantine: two devices were lost while this problem was measured; the second: " + printable(how);
    ProblemOutcome outcome;
    for (const PlannedCase& each : planned.cases) {
        const bool runs = each.unsupported.empty();
        outcome.cases.push_back(
            {.status = runs ? Status::crashed : Status::unsupported, .reason = runs ? reason : each.unsupported});
    }
    return outcome;
}

/// The time for timing is meant for a dozen candidates; a few of them need less, however close they are.
double part_of_dozen(const Task& task) {
    if (task.cases.empty()) return 1;
    return std::clamp(static_cast<double>(task.cases.size()) / 12, 0.25, 1.0);
}

/// Only what was measured together may be paired, which is what a session says.
std::string session_of_visit(const std::string& session, std::size_t visit) {
    return visit == 0 ? session : fmt::format("{}-{:03}", session, visit);
}

/// Whether anything was run.
bool was_reached(const std::vector<CaseRecord>& records) {
    return std::ranges::any_of(records, [](const CaseRecord& record) {
        return record.status != Status::not_measured && record.status != Status::unsupported;
    });
}

}  // namespace

double timing_seconds(const SweepOptions& options) {
    if (options.timing_seconds) return *options.timing_seconds;
    switch (options.effort) {
        case Effort::quick: return 0.5;
        case Effort::standard: return 4;
        case Effort::full: return 20;
    }
    return 4;
}

void DeviceLoop::run() {
    const Stopwatch watch(summary_.wall_seconds);
    wait_for_quiet();
    while (const auto task = shared_.queue.next(shared_.quiet && shared_.quiet->quiet())) {
        measure(*task);
        shared_.progress.idle(number_);  // it may wait for the others' records now
        wait_for_quiet();
    }
}

/// Before a task is taken: its share is then of the time that waiting leaves.
void DeviceLoop::wait_for_quiet() {
    if (!shared_.quiet || shared_.options.counters == CounterMode::only) return;  // counters are of no time
    if (shared_.queue.progress().remaining > 0) summary_.spent.waiting += shared_.quiet->wait(frame_.device.kind);
}

void DeviceLoop::measure(const Task& task) {
    const PlannedProblem& whole = shared_.plan.problems.at(task.problem);
    const PlannedProblem planned = task.cases.empty() ? whole : whole.only(task.cases);
    ProblemOutcome outcome;
    try {
        outcome = run_task(task, planned);
    } catch (const NoUsableDevice& error) {
        if (stop_requested()) return;  // then a worker that starts is killed, too
        if (!shared_.queue.lost(task)) record(task, planned, quarantined(planned, error.what()));
        throw;
    }
    if (!outcome.stopped) record(task, planned, outcome);
}

ProblemOutcome DeviceLoop::run_task(const Task& task, const PlannedProblem& planned) {
    const double begun = steady_seconds();
    const ProblemBudget budget = budget_of(task);
    ProblemOutcome outcome = run_problem(worker_, planned, shared_.options, budget,
                                         [&](const std::string& what) { shared_.progress.update(number_, what); });
    outcome.conditions.problem_seconds = steady_seconds() - begun;
    if (frame_.counters) outcome.conditions.counting_seconds = outcome.spent.counting;
    summary_.spent += outcome.spent;
    return outcome;
}

ProblemBudget DeviceLoop::budget_of(const Task& task) const {
    ProblemBudget budget{.timing_seconds = timing_seconds(shared_.options) * part_of_dozen(task),
                         .seed = shared_.options.seed * 1'000'003 + task.problem + task.visit * 0x9E3779B97F4A7C15,
                         .caches = frame_.caches};
    if (task.seconds < budget.total_seconds) {
        budget.total_seconds = task.seconds;
        // Verifying again after timing takes about as long as before it.
        budget.timing_seconds = std::min(budget.timing_seconds, 0.6 * budget.total_seconds);
    }
    return budget;
}

void DeviceLoop::record(const Task& task, const PlannedProblem& planned, const ProblemOutcome& outcome) {
    RecordFrame frame = frame_;
    frame.session = session_of_visit(frame_.session, task.visit);
    const auto records = shared_.options.counters == CounterMode::only
                             ? with_counters(earlier_, frame, planned, outcome)
                             : records_of(frame, planned, outcome);
    const bool only_some = shared_.options.sample || shared_.options.counters == CounterMode::only;
    if (!only_some || was_reached(records)) {
        tell_failures(records);
        journal_.append(records);
        shared_.statuses.add(records);
        ++summary_.problems;
        summary_.cases += records.size();
    }
    shared_.queue.finished(task, records);
}

void DeviceLoop::tell_failures(const std::vector<CaseRecord>& records) {
    for (const CaseRecord& record : records)
        if (is_failure(record.status))
            shared_.progress.say(fmt::format("{} {} {}: {}: {}", record.family + "/" + record.variant, record.problem,
                                             record.configuration, to_string(record.status), record.reason));
}

}  // namespace espalier::bench
