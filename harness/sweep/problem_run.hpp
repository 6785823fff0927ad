#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/records/case_record.hpp"
#include "harness/sweep/options.hpp"
#include "harness/sweep/plan.hpp"
#include "harness/sweep/worker_process.hpp"

namespace espalier {

/// Keeps one worker alive: starts it, learns what device it has, starts another when it is gone.
class WorkerPool {
public:
    explicit WorkerPool(std::string device) : name_(std::move(device)) {}

    /// A worker that has said hello. Throws `NoUsableDevice` if it cannot use the device.
    WorkerProcess& worker();
    void discard() { worker_.reset(); }

    /// As the first worker saw it.
    [[nodiscard]] const protocol::Hello& hello() const { return hello_; }

private:
    std::string name_;
    std::unique_ptr<WorkerProcess> worker_;
    protocol::Hello hello_;
};

/// The device with its ceilings measured; nothing if that failed or the sweep was asked to stop.
std::optional<DeviceInfo> with_ceilings(WorkerPool& pool, const std::function<void()>& tick);

/// Why the device has no hardware counters; empty if it has.
std::string counters_refusal(WorkerPool& pool);

/// How the cases of one problem ended, in the order of its planned cases.
struct ProblemOutcome {
    struct Case {
        Status status = Status::not_measured;
        std::string reason, verification;
        std::vector<double> samples_ns;
        std::vector<std::pair<std::string, double>> counters;
        std::string counters_reason;
    };
    std::vector<Case> cases;
    std::vector<std::pair<std::string, double>> conditions;
    double timing_seconds = 0, verification_seconds = 0, counting_seconds = 0;
    double lost_seconds = 0;  ///< in attempts that ended with the worker
    bool stopped = false;     ///< by the user; the cases are worth nothing
};

struct ProblemBudget {
    double timing_seconds = 10, total_seconds = 1e9;
    std::uint64_t seed = 1;
    bool cold = false;
};

/// Has the worker measure a problem, restarting it without the case it died of for as long as it takes.
/// `tick` is called a few times a second with what is being done.
ProblemOutcome run_problem(WorkerPool& pool, const PlannedProblem& planned, const SweepOptions& options,
                           const ProblemBudget& budget, const std::function<void(const std::string&)>& tick);

}  // namespace espalier
