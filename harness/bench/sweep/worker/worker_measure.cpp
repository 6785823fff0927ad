#include "harness/bench/sweep/worker/worker_measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "harness/base/clock.hpp"
#include "harness/base/statistics.hpp"
#include "harness/bench/records/case_record.hpp"
#include "harness/bench/sweep/worker/condition_watch.hpp"
#include "harness/bench/sweep/worker/scaled_down.hpp"
#include "harness/bench/sweep/worker/timing.hpp"
#include "harness/bench/sweep/worker/verify.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

using namespace protocol;

// How long one verification goes on repeating a short run, and what share of a problem's time all of them may
// take together where time is short.
constexpr double kVerifySeconds = 0.02;
constexpr double kVerifyShare = 0.15;

constexpr const char* kTooSlow = "hundreds of times the fastest on a smaller problem, and in proportion here";

struct Candidate {
    std::uint32_t index = 0;  ///< in the request
    std::size_t variant = 0;
    Configuration configuration;
    std::string name;
    double run_seconds = 0, scaled_down_seconds = 0;
};

std::vector<Candidate> candidates_of(const Measure& request, const Family& family) {
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < request.candidates.size(); ++i) {
        const auto& wanted = request.candidates[i];
        const std::size_t variant = family.find(wanted.variant);
        const auto& all = family.variants()[variant].configurations;
        const auto found =
            std::ranges::find_if(all, [&](const Configuration& c) { return c.text() == wanted.configuration; });
        candidates.push_back({static_cast<std::uint32_t>(i), variant, *found, request.family + "/" + wanted.variant});
    }
    return candidates;
}

/// One problem's measurement. Exceptions of a candidate become `Failed`.
class Measurement {
public:
    Measurement(const Measure& request, const Family& family, const DeviceInfo& device, CaseCounters& counters,
                ProgressPage& progress, const std::function<void(const Event&)>& send)
        : request_(request),
          family_(family),
          device_(device),
          counters_(counters),
          progress_(progress),
          send_(send),
          deadline_(steady_seconds() + request.total_seconds),
          candidates_(candidates_of(request, family)) {}

    bool run() {
        note_load();
        if (!prepare()) return usable_;
        return request_.timing ? verify_and_time() : count_only();
    }

private:
    bool verify_and_time() {
        const double fair = kVerifyShare * request_.total_seconds / static_cast<double>(candidates_.size());
        verify_seconds_ = once() ? 0 : std::min(kVerifySeconds, fair);
        // What is verified must also be timed: the rest of the candidates goes without both.
        const double verify_until = deadline_ - request_.total_seconds / 2;
        if (once() && verifier_->has_scaled_down()) verify_scaled_down(verify_until);
        verify_all(verify_seconds_, verify_until);
        eliminate_slow_ones();
        if (usable_ && !candidates_.empty()) time_all();
        if (usable_ && !timed_.empty()) verify_again();
        if (usable_ && !timed_.empty() && device_.kind == DeviceKind::cuda) time_transfer();
        if (!usable_) return false;
        for (const TimedCandidate& timed : timed_)
            if (timed.samples_ns.size() >= kLeastRounds)
                send_(Timed{timed.index, timed.samples_ns, timed.resolution_ns});
        for (const Candidate& candidate : eliminated_) send_(Timed{candidate.index, {candidate.run_seconds * 1e9}});
        if (request_.counters) count_all();
        if (usable_) send_(done_);
        return usable_;
    }

    /// Each runs once before, which tells how long it takes.
    bool count_only() {
        run_each_once();
        if (usable_) count_all();
        if (usable_) send_(done_);
        return usable_;
    }

    void run_each_once() {
        const Stopwatch watch(done_.spent.counting);
        std::erase_if(candidates_, [&](Candidate& candidate) {
            if (!usable_) return true;
            progress_.step(Phase::counting, candidate.index);
            return !guarded(candidate.index, [&] {
                const double start = steady_seconds();
                verifier_->bench().run(candidate.variant, candidate.configuration);
                finish(device_);
                candidate.run_seconds = steady_seconds() - start;
            });
        });
    }

    /// Runs `body` for a candidate. False if it threw, in which case the candidate has been reported.
    template <class Body>
    bool guarded(std::uint32_t candidate, Body body) {
        try {
            body();
            return true;
        } catch (const device::DeviceError& error) {
            if (!error.out_of_memory()) usable_ = false;  // such errors stick to the context
            fail(candidate, error.out_of_memory() ? Status::out_of_memory : Status::crashed, error.what());
        } catch (const std::bad_alloc&) {
            fail(candidate, Status::out_of_memory, "host memory ran out");
        } catch (const std::exception& error) {
            usable_ = false;
            fail(candidate, Status::crashed, std::string("threw: ") + error.what());
        }
        return false;
    }

    void fail(std::uint32_t candidate, Status status, const std::string& reason) {
        send_(Failed{candidate, status, reason});
    }

    bool prepare() {
        const Stopwatch watch(done_.spent.verification);
        progress_.step(Phase::preparing);
        std::string reason;
        Status status = Status::out_of_memory;
        try {
            verifier_.emplace(family_, request_.problem, device_, request_.seed, oracle_operations());
            return !request_.baseline || once() || !verifier_->needs_baseline() || run_baseline();
        } catch (const device::DeviceError& error) {
            reason = error.what();
            if (!error.out_of_memory()) status = Status::crashed, usable_ = false;
        } catch (const std::bad_alloc&) {
            reason = "host memory ran out";
        }
        for (const Candidate& candidate : candidates_) fail(candidate.index, status, "preparing the data: " + reason);
        if (usable_) send_(done_);
        return false;
    }

    /// A baseline that fails is not the candidates' fault: the sweep sees in which phase this process
    /// ended and asks again without it.
    bool run_baseline() {
        progress_.step(Phase::baseline);
        try {
            verifier_->run_baseline();
        } catch (const std::bad_alloc&) {
        } catch (const device::DeviceError& error) {
            usable_ = error.out_of_memory();
        }
        return usable_;
    }

    /// Where time is short the oracle gets a smaller problem: it runs twice, at some 5e8 operations a second. So it
    /// does for a sample, where naive variants take as long for the oracle's problems as the rest for a hundred of
    /// them.
    double oracle_operations() const {
        if (request_.verification == Verification::full) return std::numeric_limits<double>::infinity();
        const double most = once() ? kOracleOperations / 10 : kOracleOperations;
        return std::min(most, kVerifyShare / 2 * 5e8 * request_.total_seconds);
    }

    /// Keeps what is right on the scaled-down problem, the fastest first. The first of all is one that the others can
    /// be compared with.
    void verify_scaled_down(double deadline) {
        const Stopwatch watch(done_.spent.verification);
        std::vector<Candidate> right;
        for (Candidate& candidate : candidates_) {
            if (!usable_ || steady_seconds() > deadline) break;
            progress_.step(Phase::verifying, candidate.index);
            Verdict verdict;
            if (!guarded(candidate.index, [&] { verdict = run_scaled_down(candidate); })) continue;
            if (!is_right(candidate, verdict)) continue;
            right.push_back(candidate);
        }
        std::ranges::stable_sort(right, {}, &Candidate::scaled_down_seconds);
        if (!right.empty()) time_fastest_scaled_down(right.front());
        const auto first = std::ranges::find_if(right, [&](const Candidate& candidate) {
            return std::isfinite(candidate.scaled_down_seconds) && verifier_->is_precise(candidate.variant);
        });
        if (first != right.end()) std::rotate(right.begin(), first, first + 1);
        candidates_ = std::move(right);
    }

    /// A second run where somebody takes long: the first one may have loaded the kernel.
    void time_fastest_scaled_down(const Candidate& candidate) {
        fastest_scaled_down_ = candidate.scaled_down_seconds;
        if (!any_takes_long_) return;
        guarded(candidate.index, [&] {
            const Verdict again = verifier_->verify_scaled_down(candidate.variant, candidate.configuration);
            fastest_scaled_down_ = std::min(fastest_scaled_down_, again.run_seconds);
        });
    }

    /// The shorter of two runs if it takes long: the first launch of a kernel loads it.
    Verdict run_scaled_down(Candidate& candidate) {
        Verdict verdict = verifier_->verify_scaled_down(candidate.variant, candidate.configuration);
        if (!verdict.wrong && takes_long(scaled_down_time(verdict.run_seconds))) {
            const double first = verdict.run_seconds;
            verdict = verifier_->verify_scaled_down(candidate.variant, candidate.configuration);
            verdict.run_seconds = std::min(verdict.run_seconds, first);
            any_takes_long_ |= takes_long(scaled_down_time(verdict.run_seconds));
        }
        candidate.scaled_down_seconds = verdict.run_seconds;
        return verdict;
    }

    /// If not, the candidate has been reported.
    bool is_right(const Candidate& candidate, const Verdict& verdict, std::string_view when = "") {
        if (!verdict.wrong) return true;
        fail(candidate.index, Status::wrong, std::string(when) + verdict.wrong.description);
        usable_ = !verdict.overran;
        return false;
    }

    Verdict verify(const Candidate& candidate, double seconds) {
        if (once() && verifier_->has_scaled_down())
            return verifier_->verify_at_full_size(candidate.variant, candidate.configuration);
        return verifier_->verify(candidate.variant, candidate.configuration,
                                 {.least = once() ? 1 : 2, .seconds = seconds});
    }

    [[nodiscard]] ScaledDownTime scaled_down_time(double seconds) const {
        return {.seconds = seconds, .fastest_seconds = fastest_scaled_down_, .work_ratio = verifier_->work_ratio()};
    }

    [[nodiscard]] bool is_too_slow(const Candidate& candidate) const {
        return once() && verifier_->has_scaled_down() &&
               too_slow(scaled_down_time(candidate.scaled_down_seconds), fastest_);
    }

    /// Verifies every candidate and drops those that fail or that there is no time for.
    void verify_all(double seconds, double deadline, bool first = true) {
        const Stopwatch watch(done_.spent.verification);
        std::vector<Candidate> right;
        for (const Candidate& candidate : candidates_) {
            if (!usable_ || steady_seconds() > deadline) break;
            if (first && is_too_slow(candidate)) {
                fail(candidate.index, Status::too_slow, kTooSlow);
                continue;
            }
            progress_.step(Phase::verifying, candidate.index);
            Verdict verdict;
            if (!guarded(candidate.index, [&] { verdict = verify(candidate, seconds); })) continue;
            if (!is_right(candidate, verdict, first ? "" : "after timing, on fresh inputs: ")) continue;
            if (first) send_(Verified{candidate.index, verdict.how});
            right.push_back(candidate);
            right.back().run_seconds = verdict.run_seconds;
            fastest_ = std::min(fastest_, verdict.run_seconds);
        }
        candidates_ = std::move(right);
    }

    /// Does not run again what took far longer than the fastest: in a sample, on a GPU, where no other program makes
    /// one seem slow. The verified run is its sample, if loading the kernel is no part of it or a small one.
    void eliminate_slow_ones() {
        constexpr double kTimes = 20, kSeconds = 0.01, kSecondsWithLoading = 0.1;
        if (!once() || device_.kind != DeviceKind::cuda) return;
        std::erase_if(candidates_, [&](const Candidate& candidate) {
            const bool loaded = verifier_->has_scaled_down() && std::isfinite(candidate.scaled_down_seconds);
            const bool slow =
                candidate.run_seconds > std::max(loaded ? kSeconds : kSecondsWithLoading, kTimes * fastest_);
            if (slow) eliminated_.push_back(candidate);
            return slow;
        });
    }

    void time_all() {
        for (const Candidate& candidate : candidates_)
            timed_.push_back(
                {candidate.name, candidate.index,
                 [this, &candidate] { verifier_->bench().run(candidate.variant, candidate.configuration); },
                 candidate.run_seconds * 1e9});
        const Stopwatch watch(done_.spent.timing);
        const auto conditions = watch_conditions(device_);
        TimingOutcome outcome;
        const bool fine = guarded_by_page([&] {
            for (const Candidate& candidate : candidates_)
                verifier_->bench().reserve(candidate.variant, candidate.configuration);
            const auto sampler = make_sampler(device_, request_.caches);
            outcome = time_in_rounds(timed_, *sampler, *conditions,
                                     {request_.noise, request_.timing_seconds, deadline_, request_.seed}, progress_);
        });
        if (!fine) usable_ = false;  // the others' samples are worth less than a clean start without it
        done_.conditions = conditions->read();
        done_.conditions.disturbed_rounds = static_cast<double>(outcome.disturbed);
        done_.conditions.repeated_rounds = static_cast<double>(outcome.repeated);
        done_.conditions.disturbed_share = outcome.disturbed_share();
    }

    template <class Body>
    bool guarded_by_page(Body body) {
        // Whatever is thrown was thrown by the candidate that the page names.
        std::exception_ptr thrown;
        try {
            body();
            return true;
        } catch (...) {
            thrown = std::current_exception();
        }
        return guarded(progress_.candidate.load(), [&] { std::rethrow_exception(thrown); });
    }

    [[nodiscard]] bool once() const { return request_.verification == Verification::once; }

    void verify_again() {
        if (!once()) {
            const Stopwatch watch(done_.spent.verification);
            progress_.step(Phase::preparing);
            verifier_->refresh(request_.seed ^ 0x9E3779B97F4A7C15);
        }
        // No deadline: what has been timed must be verified.
        verify_all(verify_seconds_ / 2, std::numeric_limits<double>::infinity(), false);
        std::erase_if(timed_, [&](const TimedCandidate& timed) {
            return std::ranges::none_of(candidates_, [&](const Candidate& c) { return c.index == timed.index; });
        });
    }

    /// What the samples leave out: the copies that a caller whose data is in host memory pays once per call, from
    /// and to pageable memory. The same for every variant, so it is measured once per problem.
    void time_transfer() {
        constexpr int kMost = 5;
        constexpr double kSeconds = 0.1;
        const Stopwatch watch(done_.spent.timing);
        progress_.step(Phase::preparing);
        std::vector<double> samples_ns;
        try {
            if (!verifier_->bench().host_memory_is_touched()) verifier_->bench().transfer();
            const double begin = steady_seconds();
            while (samples_ns.size() < kMost && (samples_ns.empty() || steady_seconds() - begin < kSeconds)) {
                const double start = steady_seconds();
                verifier_->bench().transfer();
                samples_ns.push_back((steady_seconds() - start) * 1e9);
            }
        } catch (const std::bad_alloc&) {
            return;  // no room for the outputs in host memory: the times without transfers stand
        } catch (const device::DeviceError& error) {
            usable_ = error.out_of_memory();
            return;
        }
        done_.conditions.transfer_ns = median_interval(samples_ns).median;
    }

    void count_all() {
        const Stopwatch watch(done_.spent.counting);
        std::vector<CaseToCount> cases;
        for (const Candidate& candidate : candidates_)
            cases.push_back({candidate.index, candidate.run_seconds, [this, &candidate] {
                                 verifier_->bench().run(candidate.variant, candidate.configuration);
                             }});
        usable_ =
            counters_.count(std::move(cases), request_.every_counter, request_.caches, deadline_, progress_, send_);
    }

    const Measure& request_;
    const Family& family_;
    const DeviceInfo& device_;
    CaseCounters& counters_;
    ProgressPage& progress_;
    const std::function<void(const Event&)>& send_;
    double deadline_;
    std::vector<Candidate> candidates_;
    std::vector<TimedCandidate> timed_;
    std::vector<Candidate> eliminated_;  ///< verified, and not worth another run
    std::optional<Verifier> verifier_;
    Done done_;
    double verify_seconds_ = kVerifySeconds;
    double fastest_ = std::numeric_limits<double>::infinity();  ///< of what was verified: seconds of a run
    double fastest_scaled_down_ = std::numeric_limits<double>::infinity();
    bool any_takes_long_ = false;  ///< at full size, in proportion to the scaled-down problem
    bool usable_ = true;
};

}  // namespace

bool measure(const Measure& request, const DeviceInfo& device, CaseCounters& counters, ProgressPage& progress,
             const std::function<void(const Event&)>& send) {
    return Measurement(request, *find_family(request.family), device, counters, progress, send).run();
}

}  // namespace espalier::bench
