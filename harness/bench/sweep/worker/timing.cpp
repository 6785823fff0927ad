#include "harness/bench/sweep/worker/timing.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <random>

#include "harness/base/clock.hpp"
#include "harness/base/range.hpp"
#include "harness/base/statistics.hpp"

namespace espalier::bench {
namespace {

constexpr double kEliminationFactor = 3;
constexpr std::size_t kConvergedRounds = 8;  // 6 samples give the first true 95% interval
constexpr std::size_t kMostRounds = 128;
constexpr double kLeastSampleNs = 0.01;  // what is recorded has so many digits
constexpr std::size_t kFreeRepeats = 4;  // of disturbed rounds; beyond them one for four good ones

/// A sample of so many runs, or what the sampler can tell from nothing if that is more.
double take_sample(TimedCandidate& candidate, int batch, Sampler& sampler) {
    const double least = std::max(kLeastSampleNs, sampler.resolution_ns(batch));
    const double sample = sampler.sample(candidate.run, batch);
    if (sample >= least) return sample;
    candidate.resolution_ns = std::max(candidate.resolution_ns, least);
    return least;
}

/// Takes the samples of rounds with Google Benchmark: the k-th of its benchmarks is the k-th candidate of whatever
/// order a round has, so that they are registered once for as many candidates as there are. Its own random interleaving
/// shuffles all repetitions of a program together, from a generator that cannot be seeded: its samples would be neither
/// paired nor repeatable.
class RoundBenchmarks final : public benchmark::BenchmarkReporter {
public:
    RoundBenchmarks(std::vector<TimedCandidate>& candidates, Sampler& sampler, double deadline, ProgressPage& progress)
        : candidates_(candidates), sampler_(sampler), deadline_(deadline), progress_(progress) {}
    ~RoundBenchmarks() override { benchmark::ClearRegisteredBenchmarks(); }

    /// One sample of each candidate in the given order, of as many runs as its batch. Rethrows what a run throws.
    void run(const std::vector<std::size_t>& order, const std::vector<int>& batches) {
        order_ = order;
        batches_ = batches;
        if (registered_ != order.size()) register_for(order.size());
        benchmark::RunSpecifiedBenchmarks(this, nullptr, ".");
        if (failure_) std::rethrow_exception(failure_);
    }

    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            if (run.error_occurred || run.run_type != Run::RT_Iteration) continue;
            TimedCandidate& candidate = candidate_at(run.per_family_instance_index);
            // Hundredths of a nanosecond: the digits beyond are the conversion's.
            candidate.samples_ns.push_back(std::round(run.real_accumulated_time * 1e11) / 100);
        }
    }

private:
    void register_for(std::size_t candidates) {
        benchmark::ClearRegisteredBenchmarks();
        benchmark::RegisterBenchmark("candidate", [this](benchmark::State& state) { measure(state); })
            ->DenseRange(0, static_cast<std::int64_t>(candidates) - 1)
            ->Iterations(1)
            ->UseManualTime();
        registered_ = candidates;
    }

    void measure(benchmark::State& state) {
        TimedCandidate& candidate = candidate_at(state.range(0));
        const int batch = batches_[order_[static_cast<std::size_t>(state.range(0))]];
        for (auto _ : state) {
            if (failure_ || steady_seconds() > deadline_) {
                state.SkipWithError("stopped");
                break;
            }
            progress_.step(Phase::timing, candidate.index);
            const device::Range range(candidate.name);
            try {
                state.SetIterationTime(take_sample(candidate, batch, sampler_) * 1e-9);
            } catch (...) {
                failure_ = std::current_exception();
                state.SkipWithError("failed");
                break;
            }
        }
    }

    TimedCandidate& candidate_at(std::int64_t place) { return candidates_[order_[static_cast<std::size_t>(place)]]; }

    std::vector<TimedCandidate>& candidates_;
    Sampler& sampler_;
    double deadline_;
    ProgressPage& progress_;
    std::vector<std::size_t> order_;
    std::vector<int> batches_;
    std::size_t registered_ = 0;
    std::exception_ptr failure_;
};

std::size_t best_of(const std::vector<TimedCandidate>& candidates) {
    const auto median = [](const TimedCandidate& c) {
        return c.samples_ns.empty() ? std::numeric_limits<double>::infinity() : median_interval(c.samples_ns).median;
    };
    return static_cast<std::size_t>(
        std::min_element(candidates.begin(), candidates.end(),
                         [&](const TimedCandidate& a, const TimedCandidate& b) { return median(a) < median(b); }) -
        candidates.begin());
}

bool eliminated(const TimedCandidate& candidate, const TimedCandidate& best) {
    const auto mine = median_interval(candidate.samples_ns), theirs = median_interval(best.samples_ns);
    return mine.median > kEliminationFactor * theirs.median && mine.lo > theirs.hi;
}

/// Whether more samples of it could not change much: the ratio to the best is known to within the noise asked for,
/// or to a tenth of its distance from 1, which no ranking depends on.
bool converged(const TimedCandidate& candidate, const TimedCandidate& best, double noise) {
    if (candidate.samples_ns.size() < kConvergedRounds) return false;
    if (&candidate == &best) return median_interval(best.samples_ns).relative_half_width() <= noise;
    const auto ratio = median_interval(ratios(candidate.samples_ns, best.samples_ns));
    return ratio.relative_half_width() <= std::max(noise, (ratio.lo - 1) / 10);
}

/// The rounds of one problem.
class Rounds {
public:
    Rounds(std::vector<TimedCandidate>& candidates, Sampler& sampler, ConditionWatch& conditions,
           const TimingGoal& goal, ProgressPage& progress)
        : candidates_(candidates),
          sampler_(sampler),
          conditions_(conditions),
          goal_(goal),
          benchmarks_(candidates, sampler, goal.deadline, progress),
          random_(goal.seed) {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            batches_.push_back(sampler.batch_for(candidates[i].estimate_ns));
            alive_.push_back(i);
        }
    }

    TimingOutcome run() {
        while (outcome_.rounds < kMostRounds && !alive_.empty() && in_time()) {
            if (!take_round()) continue;
            if (outcome_.rounds == 1) adjust_batches();
            if (outcome_.rounds < next_look_) continue;
            if (dismiss()) break;
            next_look_ = outcome_.rounds + std::max<std::size_t>(2, outcome_.rounds * 2 / 5);
        }
        return outcome_;
    }

private:
    [[nodiscard]] bool in_time() const {
        const double now = steady_seconds();
        return now <= goal_.deadline && (outcome_.rounds < kLeastRounds || now - start_ <= goal_.seconds);
    }

    /// False if the round was disturbed and is discarded, whole, so that samples stay paired. On a machine that is
    /// never quiet that has to end.
    bool take_round() {
        std::vector<std::size_t> before;
        for (const TimedCandidate& candidate : candidates_) before.push_back(candidate.samples_ns.size());
        std::shuffle(alive_.begin(), alive_.end(), random_);
        conditions_.begin_round();
        benchmarks_.run(alive_, batches_);
        const bool disturbed = conditions_.disturbed();
        outcome_.disturbed += disturbed;
        if (disturbed && outcome_.repeated < kFreeRepeats + outcome_.rounds / 4) {
            ++outcome_.repeated;
            for (std::size_t i = 0; i < candidates_.size(); ++i) candidates_[i].samples_ns.resize(before[i]);
            return false;
        }
        ++outcome_.rounds;
        return true;
    }

    /// The verification's estimates included copies and page faults.
    void adjust_batches() {
        for (const std::size_t i : alive_)
            if (!candidates_[i].samples_ns.empty()) batches_[i] = sampler_.batch_for(candidates_[i].samples_ns.back());
    }

    /// Lets those go that need no more samples; true if that is all of them. The best stays for as long as
    /// anything is compared with it, then until it has converged itself. Nobody comes back: samples would
    /// no longer be paired. For that nobody goes before there are a few rounds that were not disturbed: another
    /// program's burst of milliseconds makes whatever has two threads a hundred times as slow.
    bool dismiss() {
        if (outcome_.rounds - (outcome_.disturbed - outcome_.repeated) < kLeastRounds) return false;
        const std::size_t best = best_of(candidates_);
        std::erase_if(alive_, [&](std::size_t i) {
            return i != best && (eliminated(candidates_[i], candidates_[best]) ||
                                 converged(candidates_[i], candidates_[best], goal_.noise));
        });
        return alive_.size() == 1 && alive_.front() == best &&
               converged(candidates_[best], candidates_[best], goal_.noise);
    }

    std::vector<TimedCandidate>& candidates_;
    Sampler& sampler_;
    ConditionWatch& conditions_;
    const TimingGoal& goal_;
    RoundBenchmarks benchmarks_;
    std::mt19937_64 random_;
    double start_ = steady_seconds();
    std::vector<int> batches_;
    std::vector<std::size_t> alive_;
    /// Looking after every round would stop at the moment when the interval is narrow by chance, and so
    /// misses the truth more often than it says.
    std::size_t next_look_ = kLeastRounds;
    TimingOutcome outcome_;
};

}  // namespace

TimingOutcome time_in_rounds(std::vector<TimedCandidate>& candidates, Sampler& sampler, ConditionWatch& conditions,
                             const TimingGoal& goal, ProgressPage& progress) {
    return Rounds(candidates, sampler, conditions, goal, progress).run();
}

}  // namespace espalier::bench
