#include "harness/bench/sweep/schedule/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <list>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>

#include "harness/base/clock.hpp"
#include "harness/base/stop.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/bench/sweep/schedule/device_group.hpp"
#include "harness/bench/sweep/schedule/device_lock.hpp"
#include "harness/bench/sweep/worker/devices.hpp"
#include "harness/bench/sweep/worker/provenance.hpp"

namespace espalier::bench {
namespace {

/// Workers of GPUs share the processors; CPU devices are those processors.
ProcessorShare processors_of(const std::vector<std::string>& devices, std::size_t index) {
    return devices[index] == "cpu" ? ProcessorShare{} : ProcessorShare{index, devices.size()};
}

/// Starts all workers at once: creating a context takes a second or more. Those that cannot use their device are left
/// out, unless all are.
Workers open_workers(const std::vector<std::string>& devices, std::vector<std::string>& left_out) {
    Workers started, usable;
    for (std::size_t i = 0; i < devices.size(); ++i)
        started.emplace_back(std::make_unique<SupervisedWorker>(devices[i], processors_of(devices, i)))->start();
    for (auto& worker : started) {
        try {
            worker->open();
            usable.push_back(std::move(worker));
        } catch (const NoUsableDevice& error) {
            left_out.emplace_back(error.what());
        }
    }
    if (usable.empty()) throw NoUsableDevice(left_out.empty() ? "no device to sweep" : left_out.front());
    return usable;
}

/// By what must agree for measurements to be pooled, in the order of the first of each.
std::vector<Workers> grouped(Workers workers) {
    const auto identity = [](const SupervisedWorker& worker) {
        const protocol::Hello& hello = worker.hello();
        return std::tie(hello.device.key, hello.device.name, hello.driver, hello.runtime);
    };
    std::vector<Workers> groups;
    for (auto& worker : workers) {
        const auto group =
            std::ranges::find_if(groups, [&](const Workers& g) { return identity(*g.front()) == identity(*worker); });
        (group == groups.end() ? groups.emplace_back() : *group).push_back(std::move(worker));
    }
    return groups;
}

std::list<DeviceGroup> open_groups(const SweepOptions& options, const std::vector<std::string>& devices,
                                   std::vector<std::string>& left_out) {
    Workers workers = open_workers(devices, left_out);
    const std::size_t sharing = workers.size();
    const std::string session = new_session();
    std::list<DeviceGroup> groups;
    for (Workers& group : grouped(std::move(workers))) groups.emplace_back(options, std::move(group), sharing, session);
    return groups;
}

void run_all(std::list<DeviceGroup>& groups, SweepProgress& progress, QuietWatch& quiet) {
    std::vector<std::jthread> threads;
    for (DeviceGroup& group : groups)
        for (std::size_t lane = 0; lane < group.workers(); ++lane)
            threads.emplace_back([&group, &progress, &quiet, lane] { group.run(lane, progress, quiet); });
}

/// Where the lock cannot be asked for, a sweep is worth more than the certainty that it is the only one.
void lock_devices(const std::list<DeviceGroup>& groups, std::optional<DeviceLock>& lock, SweepProgress& progress) {
    try {
        lock.emplace(runtime_folder());
        for (const DeviceGroup& group : groups) group.lock_devices(*lock);
    } catch (const std::system_error& error) {
        progress.log_error(std::string("espalier: other sweeps of these devices go unnoticed: ") + error.what());
    }
}

/// The first one is the sweep's; of several, the others are at least told.
void rethrow_errors(const std::list<DeviceGroup>& groups, SweepProgress& progress) {
    std::vector<std::exception_ptr> errors;
    for (const DeviceGroup& group : groups) std::ranges::copy(group.errors(), std::back_inserter(errors));
    if (errors.empty()) return;
    for (std::size_t i = 1; i < errors.size(); ++i) {
        try {
            std::rethrow_exception(errors[i]);
        } catch (const std::exception& error) {
            progress.log_error(std::string("espalier: ") + error.what());
        }
    }
    std::rethrow_exception(errors.front());
}

}  // namespace

double SweepSummary::overhead_share() const {
    const double all = wall_seconds * static_cast<double>(workers.size());
    return all > 0 ? std::max(0.0, 1 - spent.total() / all) : 0;
}

std::size_t SweepSummary::failed() const {
    std::size_t total = 0;
    for (const auto& [status, count] : statuses)
        if (is_failure(status)) total += count;
    return total;
}

std::vector<std::string> SweepSummary::warnings() const {
    std::vector<std::string> list;
    std::size_t runnable = 0;
    for (const auto& [status, count] : statuses)
        if (status != Status::unsupported) runnable += count;
    for (const auto& [reason, count] : not_measured)
        if (reason == kTimeBudget)
            list.push_back(
                fmt::format("{} of the {} cases that could run were not measured: the time budget "
                            "(--max-time) ended first; go on with --resume and more time",
                            count, runnable));
    if (disturbance)
        list.push_back(describe(disturbed_problems, problems, *disturbance) +
                       "; measured values are marked ~ and win nothing, train leaves the problems out, or refuses; "
                       "sweep again with "
                       "--resume on a quiet machine");
    return list;
}

SweepOutcome sweep(const SweepOptions& options, const std::vector<std::string>& devices) {
    const double start = steady_seconds();
    const StopOnSignals stopping;
    SweepOutcome outcome;
    std::list<DeviceGroup> groups;
    try {
        groups = open_groups(options, devices, outcome.left_out);
        for (DeviceGroup& group : groups) group.require_counters();
    } catch (const NoUsableDevice&) {
        outcome.interrupted = stop_requested();  // it ends workers that are starting, too
        if (!outcome.interrupted) throw;
        return outcome;
    }
    SweepProgress progress(options.quiet, options.max_seconds.value_or(kUnlimitedSeconds));
    std::optional<DeviceLock> lock;
    if (options.exclusive) lock_devices(groups, lock, progress);
    QuietWatch quiet(waiting_budget(options.wait_for_quiet_seconds, options.max_seconds), this_machine(),
                     [&](const std::string& text) { progress.say(text); });
    for (const std::string& why : outcome.left_out) progress.log_error("espalier: left out: " + why);
    for (DeviceGroup& group : groups) group.measure_ceilings(progress, quiet);
    for (DeviceGroup& group : groups) group.begin(start, progress);
    run_all(groups, progress, quiet);
    rethrow_errors(groups, progress);
    for (DeviceGroup& group : groups) {
        outcome.summaries.push_back(group.summary(start));
        outcome.interrupted |= outcome.summaries.back().unfinished && stop_requested();
    }
    return outcome;
}

std::vector<DryRun> dry_run(const SweepOptions& options, const std::vector<std::string>& devices,
                            std::vector<std::string>& left_out) {
    std::vector<DryRun> dry;
    for (const DeviceGroup& group : open_groups(options, devices, left_out)) dry.push_back(group.estimate());
    return dry;
}

}  // namespace espalier::bench
