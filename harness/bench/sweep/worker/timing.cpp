#include "harness/bench/sweep/worker/timing.hpp"

#include <algorithm>
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
constexpr std::size_t kFreeRepeats = 4;  // of disturbed rounds; beyond them one for four good ones

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
          progress_(progress),
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
        for (const std::size_t i : alive_) {
            if (steady_seconds() > goal_.deadline) break;
            take_sample_of(i);
        }
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

    void take_sample_of(std::size_t i) {
        TimedCandidate& candidate = candidates_[i];
        progress_.step(Phase::timing, candidate.index);
        const device::Range range(candidate.name);
        const Sample sample = take_sample(sampler_, candidate.run, batches_[i]);
        candidate.samples_ns.push_back(sample.ns);
        candidate.resolution_ns = std::max(candidate.resolution_ns, sample.resolution_ns);
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
    ProgressPage& progress_;
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
