#include "harness/bench/sweep/worker/worker_measure.hpp"

#include <algorithm>
#include <utility>

#include "harness/base/clock.hpp"
#include "harness/base/range.hpp"
#include "harness/base/statistics.hpp"
#include "harness/bench/sweep/worker/candidates.hpp"
#include "harness/bench/sweep/worker/condition_watch.hpp"
#include "harness/bench/sweep/worker/timing.hpp"
#include "harness/bench/sweep/worker/verification_passes.hpp"

namespace espalier::bench {
namespace {

using namespace protocol;

/// One problem's measurement.
class Measurement {
public:
    Measurement(const Measure& request, const Family& family, const DeviceInfo& device, CaseCounters& counters,
                ProgressPage& progress, const Reporter::Send& send)
        : request_(request),
          device_(device),
          counters_(counters),
          progress_(progress),
          send_(send),
          what_(request.family + " " + request.problem),
          deadline_(steady_seconds() + request.total_seconds),
          reporter_(send),
          passes_(request, family, device, progress, reporter_),
          candidates_(candidates_of(request, family)) {}

    bool run() {
        note_load();
        if (prepare()) {
            if (request_.timing)
                verify_and_time();
            else
                run_each_once();
            if (usable() && (request_.counters || !request_.timing)) count_all();
        }
        if (usable()) send_(done_);
        return usable();
    }

private:
    [[nodiscard]] bool usable() const { return reporter_.usable(); }

    bool prepare() {
        const Stopwatch watch(done_.spent.verification);
        const device::Range range("prepare " + what_);
        auto failure = passes_.prepare();
        if (!failure) return usable();
        failure->reason = "preparing the data: " + failure->reason;
        for (const Candidate& candidate : candidates_) reporter_.fail(candidate.index, *failure);
        return false;
    }

    void verify_and_time() {
        verify();
        const auto slow = passes_.take_slow_ones(candidates_);
        auto timed = timed_candidates();
        if (usable() && !timed.empty()) time_all(timed);
        if (usable() && !timed.empty()) verify_again(timed);
        if (usable() && !timed.empty() && device_.kind == DeviceKind::cuda) time_transfer();
        if (!usable()) return;
        for (const TimedCandidate& each : timed)
            if (each.samples_ns.size() >= kLeastRounds) send_(Timed{each.index, each.samples_ns, each.resolution_ns});
        for (const Candidate& candidate : slow) send_(Timed{candidate.index, {candidate.run_seconds * 1e9}});
    }

    /// A candidate that is verified must also be timed: the rest goes without both.
    void verify() {
        const Stopwatch watch(done_.spent.verification);
        const device::Range range("verify " + what_);
        passes_.before_timing(candidates_, deadline_ - request_.total_seconds / 2);
    }

    std::vector<TimedCandidate> timed_candidates() {
        std::vector<TimedCandidate> timed;
        for (const Candidate& candidate : candidates_)
            timed.push_back({candidate.name, candidate.index, run_of(candidate), candidate.run_seconds * 1e9});
        return timed;
    }

    std::function<void()> run_of(const Candidate& candidate) {
        return [this, variant = candidate.variant, configuration = candidate.configuration] {
            passes_.bench().run(variant, configuration);
        };
    }

    void time_all(std::vector<TimedCandidate>& timed) {
        const Stopwatch watch(done_.spent.timing);
        const device::Range range("time " + what_);
        const auto conditions = watch_conditions(device_);
        TimingOutcome outcome;
        const auto failure = failure_of([&] {
            for (const Candidate& candidate : candidates_)
                passes_.bench().reserve(candidate.variant, candidate.configuration);
            const auto sampler = make_sampler(device_, request_.caches);
            outcome = time_in_rounds(timed, *sampler, *conditions,
                                     {request_.noise, request_.timing_seconds, deadline_, request_.seed}, progress_);
        });
        if (failure) {
            // It was thrown by the candidate that the page names. The others' samples are worth less than a clean
            // start without it.
            reporter_.fail(progress_.candidate.load(), *failure);
            reporter_.spoil();
        }
        done_.conditions = conditions->read();
        done_.conditions.disturbed_rounds = static_cast<double>(outcome.disturbed);
        done_.conditions.repeated_rounds = static_cast<double>(outcome.repeated);
        done_.conditions.disturbed_share = outcome.disturbed_share();
    }

    void verify_again(std::vector<TimedCandidate>& timed) {
        const Stopwatch watch(done_.spent.verification);
        passes_.after_timing(candidates_);
        std::erase_if(timed, [&](const TimedCandidate& each) {
            return std::ranges::find(candidates_, each.index, &Candidate::index) == candidates_.end();
        });
    }

    /// The samples leave out the copies that a caller whose data is in host memory pays once per call, from and to
    /// pageable memory. They are the same for every variant, so that they are measured once per problem.
    void time_transfer() {
        constexpr int kMost = 5;
        constexpr double kSeconds = 0.1;
        const Stopwatch watch(done_.spent.timing);
        progress_.step(Phase::preparing);
        std::vector<double> samples_ns;
        const auto failure = failure_of([&] {
            Bench& bench = passes_.bench();
            if (!bench.host_memory_is_touched()) bench.transfer();
            const double begin = steady_seconds();
            while (samples_ns.size() < kMost && (samples_ns.empty() || steady_seconds() - begin < kSeconds)) {
                const double start = steady_seconds();
                bench.transfer();
                samples_ns.push_back((steady_seconds() - start) * 1e9);
            }
        });
        if (failure && failure->spoils) reporter_.spoil();
        // Without room for the outputs in host memory the times without transfers stand.
        if (!failure) done_.conditions.transfer_ns = median_interval(samples_ns).median;
    }

    /// How long a run takes, for those that are counted without being timed.
    void run_each_once() {
        const Stopwatch watch(done_.spent.counting);
        std::vector<Candidate> runnable;
        for (Candidate& candidate : candidates_) {
            if (!usable()) return;
            progress_.step(Phase::counting, candidate.index);
            const bool ran = reporter_.ran(candidate.index, [&] {
                const double start = steady_seconds();
                passes_.bench().run(candidate.variant, candidate.configuration);
                finish(device_);
                candidate.run_seconds = steady_seconds() - start;
            });
            if (ran) runnable.push_back(std::move(candidate));
        }
        candidates_ = std::move(runnable);
    }

    void count_all() {
        const Stopwatch watch(done_.spent.counting);
        const device::Range range("count " + what_);
        std::vector<CaseToCount> cases;
        for (const Candidate& candidate : candidates_)
            cases.push_back({candidate.index, candidate.run_seconds, run_of(candidate)});
        if (!counters_.count(std::move(cases), request_.every_counter, request_.caches, deadline_, progress_, send_))
            reporter_.spoil();
    }

    const Measure& request_;
    const DeviceInfo& device_;
    CaseCounters& counters_;
    ProgressPage& progress_;
    const Reporter::Send& send_;
    std::string what_;  ///< is measured, for the timeline of a profiler
    double deadline_;
    Reporter reporter_;
    VerificationPasses passes_;
    std::vector<Candidate> candidates_;
    Done done_;
};

}  // namespace

bool measure(const Measure& request, const DeviceInfo& device, CaseCounters& counters, ProgressPage& progress,
             const std::function<void(const Event&)>& send) {
    return Measurement(request, *find_family(request.family), device, counters, progress, send).run();
}

}  // namespace espalier::bench
