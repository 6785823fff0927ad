#include "harness/bench/sweep/worker/problem_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/clock.hpp"
#include "harness/base/text/printable.hpp"

namespace espalier::bench {
namespace {

std::string_view doing(Phase phase) {
    switch (phase) {
        case Phase::preparing: return "preparing";
        case Phase::baseline: return "running the baseline";
        case Phase::verifying: return "verifying";
        case Phase::timing: return "timing";
        case Phase::counting: return "counting";
        case Phase::ceilings: return "measuring the ceilings";
        case Phase::idle: break;
    }
    return "waiting";
}

/// The attempts at one problem.
class ProblemRun {
public:
    ProblemRun(SupervisedWorker& worker, const PlannedProblem& planned, const SweepOptions& options,
               const ProblemBudget& budget, const std::function<void(const std::string&)>& tick)
        : worker_(worker),
          planned_(planned),
          options_(options),
          budget_(budget),
          tick_(tick),
          open_(planned.in_order(budget.seed)) {
        outcome_.cases.resize(planned.cases.size());
        for (std::size_t i = 0; i < planned.cases.size(); ++i)
            if (!planned.cases[i].unsupported.empty())
                outcome_.cases[i] = {.status = Status::unsupported, .reason = planned.cases[i].unsupported};
    }

    ProblemOutcome run() {
        const double deadline = steady_seconds() + budget_.total_seconds;
        while (!open_.empty() && !outcome_.stopped && steady_seconds() < deadline)
            if (attempt(deadline - steady_seconds())) break;
        for (const std::size_t i : open_)
            if (outcome_.cases[i].samples_ns.empty() && options_.counters != CounterMode::only)
                outcome_.cases[i] = {.status = Status::not_measured, .reason = kTimeBudget};
        return std::move(outcome_);
    }

private:
    /// True when the problem is finished as far as it can be.
    bool attempt(double seconds_left) {
        asked_ = open_;
        const double begun = steady_seconds();
        worker_.send(request(seconds_left));
        while (true) {
            const auto outcome = worker_.wait(options_.timeout_seconds, [&] { tick_(activity()); });
            if (const auto* event = std::get_if<protocol::Event>(&outcome)) {
                if (std::visit([&](const auto& e) { return on(e); }, *event)) return true;
                continue;
            }
            outcome_.spent.lost += steady_seconds() - begun;
            return on(std::get<WorkerEnd>(outcome));
        }
    }

    protocol::Measure request(double seconds_left) const {
        const bool timing = options_.counters != CounterMode::only;
        protocol::Measure request{.family = std::string(planned_.family->name()),
                                  .problem = planned_.problem,
                                  .seed = budget_.seed,
                                  .noise = options_.noise,
                                  .timing_seconds = budget_.timing_seconds,
                                  .total_seconds = seconds_left,
                                  .caches = budget_.caches,
                                  .verification = timing ? options_.verification : Verification::full,
                                  .baseline = use_baseline_ && timing,
                                  .counters = options_.counters != CounterMode::off,
                                  .every_counter = planned_.every_counter,
                                  .timing = timing,
                                  .candidates = {}};
        for (const std::size_t i : asked_)
            request.candidates.push_back({std::string(variant_of(i).name), planned_.cases[i].configuration.text()});
        return request;
    }

    const VariantInfo& variant_of(std::size_t i) const {
        return planned_.family->variants()[planned_.cases[i].variant];
    }

    ProblemOutcome::Case& asked_case(std::size_t candidate) { return outcome_.cases[asked_.at(candidate)]; }

    // What the worker reports. True for the last event of a request.
    bool on(const protocol::Verified& e) {
        asked_case(e.candidate).verification = e.how;
        asked_case(e.candidate).stages = e.stages;
        return false;
    }
    bool on(const protocol::Failed& e) {
        close(asked_.at(e.candidate), e.status, e.reason);
        return false;
    }
    bool on(const protocol::Timed& e) {
        asked_case(e.candidate).status = Status::ok;
        asked_case(e.candidate).samples_ns = e.samples_ns;
        asked_case(e.candidate).resolution_ns = e.resolution_ns;
        return false;
    }
    bool on(const protocol::Counted& e) {
        asked_case(e.candidate).counters = e.counters;
        asked_case(e.candidate).counters_reason = printable(e.reason);
        return false;
    }
    bool on(const protocol::Done& e) {
        outcome_.spent += e.spent;
        outcome_.conditions = e.conditions;
        return true;
    }
    template <class Other>
    bool on(const Other&) {
        return false;
    }

    /// True if there is no use in another attempt.
    bool on(const WorkerEnd& end) {
        if (end.cause == WorkerEnd::Cause::stopped) return outcome_.stopped = true;
        if (end.phase == Phase::counting) {
            keep_what_was_timed();
            return true;
        }
        // The others need not go down with a baseline that hangs or crashes at full size: they do without the
        // comparison. The baseline itself is verified in its turn.
        if (end.phase == Phase::baseline && std::exchange(use_baseline_, false)) return false;
        blame(end);
        // Without progress it would go on for ever.
        if (open_.size() == asked_.size()) close_all(Status::crashed, "the worker keeps ending without a known cause");
        return false;
    }

    void close(std::size_t i, Status status, const std::string& reason) {
        outcome_.cases[i] = {.status = status, .reason = printable(reason)};
        std::erase(open_, i);
    }

    /// Counters come last: a worker that dies of them has delivered everything else.
    void keep_what_was_timed() {
        for (const std::size_t i : open_)
            if (auto& done = outcome_.cases[i]; done.counters.empty() && done.counters_reason.empty())
                done.counters_reason = "the worker ended while counting";
    }

    void close_all(Status status, const std::string& reason) {
        for (const std::size_t i : std::vector(open_)) close(i, status, reason);
    }

    /// Charges the end of the worker to the case that it was running.
    void blame(const WorkerEnd& end) {
        const std::string_view activity = doing(end.phase);
        Status status = Status::timeout;
        std::string reason = fmt::format("no progress for {} s while {}", options_.timeout_seconds, activity);
        if (end.cause == WorkerEnd::Cause::died) {
            status = end.death.killed ? Status::out_of_memory : Status::crashed;
            reason = fmt::format("{} while {}", end.death.how, activity);
            if (end.death.killed) reason += "; nobody here sent it: most likely the system ran out of memory";
        }
        if (end.candidate == ProgressPage::kNoCandidate) {
            // Not the fault of any one: another attempt would end the same.
            close_all(status, reason);
        } else if (std::ranges::count(open_, asked_.at(end.candidate))) {
            close(asked_.at(end.candidate), status, reason);
        }
    }

    std::string activity() const {
        const ProgressPage& page = worker_.page();
        std::string text =
            fmt::format("{} {} ({})", planned_.family->name(), planned_.problem, doing(page.phase.load()));
        const std::uint32_t candidate = page.candidate.load();
        if (candidate < asked_.size()) text += fmt::format(" {}", variant_of(asked_[candidate]).name);
        return text;
    }

    SupervisedWorker& worker_;
    const PlannedProblem& planned_;
    const SweepOptions& options_;
    const ProblemBudget& budget_;
    const std::function<void(const std::string&)>& tick_;
    ProblemOutcome outcome_;
    bool use_baseline_ = true;
    std::vector<std::size_t> open_;   ///< cases without an outcome
    std::vector<std::size_t> asked_;  ///< those of the current request, by candidate
};

}  // namespace

ProblemOutcome run_problem(SupervisedWorker& worker, const PlannedProblem& planned, const SweepOptions& options,
                           const ProblemBudget& budget, const std::function<void(const std::string&)>& tick) {
    return ProblemRun(worker, planned, options, budget, tick).run();
}

}  // namespace espalier::bench
