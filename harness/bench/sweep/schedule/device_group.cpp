#include "harness/bench/sweep/schedule/device_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/clock.hpp"
#include "harness/base/stop.hpp"
#include "harness/bench/sweep/plan/equal_shares.hpp"
#include "harness/bench/sweep/plan/forecast.hpp"
#include "harness/bench/sweep/plan/task_list.hpp"
#include "harness/bench/sweep/record/uncounted.hpp"
#include "harness/bench/sweep/worker/devices.hpp"
#include "kernels/device/cpu_limits.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Strategy> make_strategy(const SweepOptions& options, const SweepPlan& plan, const Recorded& recorded) {
    if (options.counters == CounterMode::only)
        return std::make_unique<TaskList>(without_counters(plan, recorded), options.seed);
    return std::make_unique<EqualShares>(plan.problems.size(), recorded.open, options.seed, recorded.urgent);
}

/// What every one of the workers may use at once.
FreeMemory common_memory(const Workers& workers, std::size_t sharing) {
    FreeMemory free = workers.front()->hello().free;
    for (const auto& worker : workers) {
        free.device = std::min(free.device, worker->hello().free.device);
        free.host = std::min(free.host, worker->hello().free.host);
    }
    free.host /= sharing;
    return free;
}

}  // namespace

DeviceGroup::DeviceGroup(const SweepOptions& options, Workers workers, std::size_t sharing, const std::string& session)
    : options_(options) {
    const protocol::Hello& hello = workers.front()->hello();
    frame_ = {.device = hello.device,
              .driver = hello.driver,
              .runtime = hello.runtime,
              .build = hello.build,
              .session = session,
              .caches = options.caches.value_or(hello.device.kind == DeviceKind::cuda ? Caches::cold : Caches::warm),
              .counters = options.counters != CounterMode::off,
              .ordinal = {}};
    plan_ = make_plan(options, hello.device, common_memory(workers, sharing));
    for (auto& worker : workers) lanes_.push_back({.worker = std::move(worker)});
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i].path = journal_path(i);
    if (options.resume || counts_only()) earlier_ = journals_of(options.journal_folder, frame_.device.key);
    recorded_ = counts_only() ? what_can_be_counted(options.results_folder / frame_.device.key, earlier_, plan_, frame_)
                : options.resume ? what_is_recorded(earlier_, plan_, frame_, options_.wait_for_quiet_seconds > 0)
                                 : nothing_recorded(plan_);
}

bool DeviceGroup::counts_only() const { return options_.counters == CounterMode::only; }

void DeviceGroup::lock_devices(DeviceLock& lock) const {
    for (const Lane& lane : lanes_) {
        const DeviceInfo& device = lane.worker->hello().device;
        if (device.kind == DeviceKind::cpu)
            lock.take_cpus(device::thread_cpus(), device.key);
        else if (!device.uuid.empty())
            lock.take_gpu(device.uuid, device.key);
    }
}

/// One file per device and shard: a shard of a cluster, and a worker, appends to a file of its own.
fs::path DeviceGroup::journal_path(std::size_t lane) const {
    std::string name = frame_.device.key;
    const std::string& device = lanes_[lane].worker->name();
    if (lanes_.size() > 1)
        name += gpu_ordinal(device) ? fmt::format(".gpu-{}", device) : fmt::format(".{}-{}", device, lane);
    if (options_.shards > 1) name += fmt::format(".shard-{}-of-{}", options_.shard, options_.shards);
    return options_.journal_folder / (name + ".jsonl");
}

DryRun DeviceGroup::estimate() const {
    DryRun dry{.device_key = frame_.device.key, .devices = lanes_.size(), .problems = plan_.problems.size()};
    for (const PlannedProblem& planned : plan_.problems) {
        dry.cases += planned.cases.size();
        dry.unsupported += planned.cases.size() - planned.runnable();
        for (const PlannedCase& planned_case : planned.cases)
            dry.keys.push_back(planned_record(frame_, planned, planned_case).key());
    }
    dry.expected_seconds = std::min(expected_seconds(), options_.max_seconds.value_or(kUnlimitedSeconds));
    return dry;
}

double DeviceGroup::expected_seconds() const {
    if (counts_only()) return counting_forecast() / static_cast<double>(lanes_.size());
    const auto& known = options_.forecast_folder.empty() ? options_.results_folder : options_.forecast_folder;
    const Forecast forecast(known / frame_.device.key, journals_of(options_.journal_folder, frame_.device.key),
                            options_.counters);
    // Where nothing is known the goal may not be met before the budget ends, and verification costs about the
    // oracle's second.
    const double otherwise = timing_seconds(options_) + 1;
    double sum = 0, longest = 0;
    for (const std::size_t index : recorded_.open) {
        const PlannedProblem& planned = plan_.problems[index];
        if (planned.runnable() == 0) continue;
        const double seconds = forecast.seconds(planned, otherwise);
        sum += seconds;
        longest = std::max(longest, seconds);
    }
    return std::max(longest, sum / static_cast<double>(lanes_.size()));
}

double DeviceGroup::counting_forecast() const {
    return counting_seconds(plan_, recorded_, without_counters(plan_, recorded_), counter_passes());
}

/// As many as the devices said that they take, or as an H100 takes.
std::size_t DeviceGroup::counter_passes() const {
    constexpr std::size_t kUsualPasses = 14;
    const std::size_t passes = lanes_.front().worker->counter_passes();
    return passes > 0 ? passes : kUsualPasses;
}

void DeviceGroup::require_counters() {
    if (options_.counters != CounterMode::require && !counts_only()) return;
    for (const Lane& lane : lanes_)
        if (const std::string refusal = lane.worker->counters_refusal(); !refusal.empty())
            throw NoUsableDevice("device " + lane.worker->name() + ": no hardware counters: " + refusal);
}

void DeviceGroup::measure_ceilings(SweepProgress& progress, QuietWatch& quiet) {
    if (!options_.ceilings || recorded_.open.empty() || frame_.device.bytes_per_second > 0) return;
    spent_.waiting += quiet.wait(frame_.device.kind);
    const Stopwatch watch(spent_.ceilings);
    for (const Lane& lane : lanes_) {
        const auto measured = lane.worker->measure_ceilings([&] { progress.show("measuring the device's ceilings"); });
        if (measured) frame_.device = *measured;
        if (measured || stop_requested()) return;
    }
    progress.say("espalier: the ceilings could not be measured: rooflines stay empty");
}

void DeviceGroup::begin(double start, SweepProgress& progress) {
    const double deadline = options_.max_seconds ? start + *options_.max_seconds : kUnlimitedSeconds;
    queue_ = std::make_unique<ProblemQueue>(make_strategy(options_, plan_, recorded_), lanes_.size(), deadline);
    first_number_ = progress.watch(*queue_, lanes_.size());
    if (counts_only())
        progress.say("espalier: " + describe_uncounted(frame_.device.key, recorded_, without_counters(plan_, recorded_),
                                                       counter_passes(), counting_forecast()));
    for (Lane& lane : lanes_) {
        lane.journal = std::make_unique<JournalWriter>(lane.path);
        if (!recorded_.open.empty() || counts_only()) lane.journal->append(frame_.device);
        lane.journal->append(plan_record());
    }
}

PlanRecord DeviceGroup::plan_record() const {
    PlanRecord record{.session = frame_.session,
                      .device_key = frame_.device.key,
                      .plan = plan_.id,
                      .shard = options_.shard,
                      .shards = options_.shards,
                      .items = {}};
    if (options_.sample || counts_only()) return record;
    for (const PlannedProblem& planned : plan_.problems)
        record.items.push_back(
            {std::string(planned.family->name()), planned.problem, static_cast<std::int64_t>(planned.cases.size())});
    return record;
}

void DeviceGroup::run(std::size_t number, SweepProgress& progress, QuietWatch& quiet) {
    Lane& lane = lanes_.at(number);
    RecordFrame frame = frame_;
    frame.ordinal = gpu_ordinal(lane.worker->name());
    DeviceLoop loop({options_, plan_, recorded_, *queue_, statuses_, progress, &quiet}, *lane.worker, *lane.journal,
                    std::move(frame), first_number_ + number);
    std::string lost;
    try {
        loop.run();
    } catch (const NoUsableDevice& error) {
        lost = error.what();
        progress.log_error("espalier: " + lost + "; its part is left to the others, if there are any");
    } catch (...) {
        lane.error = std::current_exception();
        queue_->close();  // what stopped this one, a full disk for example, stops all
    }
    lane.summary = loop.summary();
    lane.summary.journal = lane.path.string();
    lane.summary.lost = lost;
    lane.worker->stop();
    progress.idle(first_number_ + number);
}

std::vector<std::exception_ptr> DeviceGroup::errors() const {
    std::vector<std::exception_ptr> errors;
    for (const Lane& lane : lanes_)
        if (lane.error) errors.push_back(lane.error);
    return errors;
}

SweepSummary DeviceGroup::summary(double start) const {
    SweepSummary summary{.device_key = frame_.device.key, .session = frame_.session};
    summary.problems = plan_.problems.size();
    summary.cases = plan_.cases();
    summary.resumed_cases = recorded_.complete_cases;
    summary.statuses = statuses_.counts();
    summary.not_measured = statuses_.not_measured();
    summary.disturbed_problems = statuses_.disturbed_problems();
    summary.disturbance = statuses_.disturbance();
    summary.spent = spent_;
    std::set<fs::path> journals(earlier_.begin(), earlier_.end());
    for (const Lane& lane : lanes_) {
        summary.spent += lane.summary.spent;
        summary.workers.push_back(lane.summary);
        journals.insert(lane.path);
    }
    for (const fs::path& path : journals) summary.journals.push_back(path.string());
    summary.unfinished = !queue_->exhausted();
    summary.wall_seconds = steady_seconds() - start;
    return summary;
}

}  // namespace espalier::bench
