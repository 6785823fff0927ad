#include "harness/sweep/timing.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <random>

#include "harness/device/range.hpp"
#include "harness/sweep/clock.hpp"
#include "harness/sweep/statistics.hpp"

namespace espalier {
namespace {

constexpr double kHopeless = 3;
constexpr std::size_t kSettledRounds = 8;  // 6 samples give the first true 95% interval
constexpr std::size_t kMostRounds = 128;

/// Collects the manual time of each run by its contender.
class Collector final : public benchmark::BenchmarkReporter {
public:
    explicit Collector(std::vector<Contender>& contenders) : contenders_(contenders) {}
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            if (run.error_occurred || run.run_type != Run::RT_Iteration) continue;
            const auto index = static_cast<std::size_t>(std::stoul(run.run_name.function_name));
            // Hundredths of a nanosecond: the digits beyond are the conversion's.
            contenders_[index].samples_ns.push_back(std::round(run.real_accumulated_time * 1e11) / 100);
        }
    }

private:
    std::vector<Contender>& contenders_;
};

/// One round in the given order. Benchmark's own random interleaving shuffles all repetitions of a
/// program together, from a generator that cannot be seeded: its samples are neither paired nor
/// repeatable, so that each round is a run of its own over benchmarks registered in random order.
void run_round(std::vector<Contender>& contenders, const std::vector<std::size_t>& order,
               const std::vector<int>& batches, Sampler& sampler, double deadline, ProgressPage& progress) {
    std::exception_ptr failure;
    benchmark::ClearRegisteredBenchmarks();
    for (const std::size_t index : order) {
        const auto body = [&, index](benchmark::State& state) {
            Contender& contender = contenders[index];
            for (auto _ : state) {
                if (failure || steady_seconds() > deadline) {
                    state.SkipWithError("stopped");
                    break;
                }
                progress.step(Phase::timing, contender.candidate);
                const device::Range range(contender.name);
                try {
                    state.SetIterationTime(sampler.sample(contender.run, batches[index]) * 1e-9);
                } catch (...) {
                    failure = std::current_exception();
                    state.SkipWithError("failed");
                    break;
                }
            }
        };
        benchmark::RegisterBenchmark(std::to_string(index).c_str(), body)->Iterations(1)->UseManualTime();
    }
    Collector collector(contenders);
    benchmark::RunSpecifiedBenchmarks(&collector, nullptr, ".");
    if (failure) std::rethrow_exception(failure);
}

std::size_t best_of(const std::vector<Contender>& contenders) {
    const auto median = [](const Contender& c) { return median_interval(c.samples_ns).median; };
    return static_cast<std::size_t>(
        std::min_element(contenders.begin(), contenders.end(),
                         [&](const Contender& a, const Contender& b) { return median(a) < median(b); }) -
        contenders.begin());
}

bool hopeless(const Contender& contender, const Contender& best) {
    const auto mine = median_interval(contender.samples_ns), theirs = median_interval(best.samples_ns);
    return mine.median > kHopeless * theirs.median && mine.lo > theirs.hi;
}

/// Whether more samples of it could not change much: the ratio to the best is known to within the noise asked for,
/// or to a tenth of its distance from 1, which no ranking depends on.
bool settled(const Contender& contender, const Contender& best, double noise) {
    if (contender.samples_ns.size() < kSettledRounds) return false;
    if (&contender == &best) return median_interval(best.samples_ns).relative_half_width() <= noise;
    const auto ratio = median_interval(ratios(contender.samples_ns, best.samples_ns));
    return ratio.relative_half_width() <= std::max(noise, (ratio.lo - 1) / 10);
}

}  // namespace

void time_in_rounds(std::vector<Contender>& contenders, Sampler& sampler, const TimingGoal& goal,
                    ProgressPage& progress) {
    const double start = steady_seconds();
    std::mt19937_64 random(goal.seed);
    std::vector<int> batches;
    std::vector<std::size_t> alive;
    for (std::size_t i = 0; i < contenders.size(); ++i) {
        batches.push_back(sampler.batch_for(contenders[i].estimate_ns));
        alive.push_back(i);
    }
    for (std::size_t round = 0; round < kMostRounds && !alive.empty(); ++round) {
        const double now = steady_seconds();
        if (now > goal.deadline || (round >= kLeastRounds && now - start > goal.seconds)) return;
        std::shuffle(alive.begin(), alive.end(), random);
        run_round(contenders, alive, batches, sampler, goal.deadline, progress);
        if (round == 0)  // the verification's estimate included copies and page faults
            for (const std::size_t i : alive)
                if (!contenders[i].samples_ns.empty()) batches[i] = sampler.batch_for(contenders[i].samples_ns.back());
        if (round + 1 < kLeastRounds) continue;
        const std::size_t best = best_of(contenders);
        std::erase_if(alive, [&](std::size_t i) {
            return i != best &&
                   (hopeless(contenders[i], contenders[best]) || settled(contenders[i], contenders[best], goal.noise));
        });
        // The best goes on as long as anything is compared with it, then until it is settled itself.
        if (alive.size() == 1 && settled(contenders[best], contenders[best], goal.noise)) return;
        if (std::ranges::count(alive, best) == 0) alive.push_back(best);
    }
}

}  // namespace espalier
