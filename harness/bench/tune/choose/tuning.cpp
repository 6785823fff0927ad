#include "harness/bench/tune/choose/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/stop.hpp"
#include "harness/bench/tune/space/search.hpp"

namespace espalier::bench::tune {
namespace {

// Configurations for one worker. A search learns between batches; where all are measured, starting workers is lost
// time.
constexpr std::size_t kSearchBatch = 64, kExhaustiveBatch = 128, kEmulatedBatch = 16;
constexpr std::size_t kFinalists = 8;  // of a problem
constexpr double kNearBest = 1.1;      // a finalist's time over the best one's
constexpr double kSearchNoise = 0.02;  // finding the finalists needs less than their final
constexpr double kShareOfFinal = 0.2;  // of the time
constexpr double kSecondsOfBatch = 10;

class Tuner {
public:
    Tuner(const Description& description, const TuneOptions& options, Bench& bench, const Report& report)
        : description_(description), options_(options), bench_(bench), report_(report) {}

    Tuning run() {
        const std::size_t problems = description_.sizes.size();
        for (std::size_t problem = 0; problem < problems && !stop_requested(); ++problem) {
            const double left = options_.seconds * (1 - kShareOfFinal) - bench_.elapsed();
            try_configurations(problem, bench_.elapsed() + left / static_cast<double>(problems - problem));
        }
        const std::vector<Configuration> shared = problems > 1 ? best_of_all() : std::vector<Configuration>{};
        for (std::size_t problem = 0; problem < problems && !stop_requested(); ++problem)
            run_final(problem, problems > 1 ? shared : finalists(problem));
        return std::move(tuning_);
    }

private:
    void try_configurations(std::size_t problem, double until) {
        Search search(description_, problem, options_.exhaustive, options_.seed);
        tuning_.configurations.push_back(search.configurations());
        const std::size_t size = bench_.device().emulated ? kEmulatedBatch
                                 : search.exhaustive()    ? kExhaustiveBatch
                                                          : kSearchBatch;
        std::vector<Trial> trials;
        while (!stop_requested()) {
            const std::vector<Configuration> next = search.propose(size, trials);
            if (next.empty()) break;
            if (!trials.empty() && bench_.elapsed() > until) {
                tuning_.complete = false;
                break;
            }
            report_(status(problem, trials.size()), bench_.elapsed() / options_.seconds);
            const double seconds = std::clamp(until - bench_.elapsed(), 0.1, kSecondsOfBatch);
            for (Outcome& outcome : bench_.measure(problem, next, {.noise = kSearchNoise, .seconds = seconds})) {
                trials.push_back(
                    {outcome.configuration, outcome.timed() ? std::optional(outcome.time_ns) : std::nullopt});
                tuning_.outcomes.push_back(std::move(outcome));
            }
        }
        if (!search.configurations() || trials.size() < *search.configurations()) tuning_.complete = false;
    }

    [[nodiscard]] std::string status(std::size_t problem, std::size_t tried) const {
        const auto& count = tuning_.configurations[problem];
        return fmt::format("{}: {} of {} configurations", description_.problem_key(problem), tried,
                           count ? std::to_string(*count) : "more than can be listed");
    }

    /// The fastest of a problem that may still turn out best, and the default.
    [[nodiscard]] std::vector<Configuration> finalists(std::size_t problem) const {
        std::vector<const Outcome*> timed;
        for (const Outcome& one : tuning_.outcomes)
            if (one.problem == problem && one.timed()) timed.push_back(&one);
        std::ranges::sort(timed, {}, &Outcome::time_ns);
        std::vector<Configuration> best;
        for (const Outcome* one : timed)
            if (best.size() < kFinalists && one->time_ns <= kNearBest * timed.front()->time_ns)
                best.push_back(one->configuration);
        Configuration by_default;
        for (const Parameter& parameter : description_.parameters) by_default.push_back(parameter.by_default);
        const bool valid =
            std::ranges::any_of(timed, [&](const Outcome* one) { return one->configuration == by_default; });
        if (valid && std::ranges::find(best, by_default) == best.end()) best.push_back(by_default);
        return best;
    }

    [[nodiscard]] std::vector<Configuration> best_of_all() const {
        std::vector<Configuration> all;
        for (std::size_t problem = 0; problem < description_.sizes.size(); ++problem)
            for (const Configuration& one : finalists(problem))
                if (std::ranges::find(all, one) == all.end()) all.push_back(one);
        return all;
    }

    void run_final(std::size_t problem, const std::vector<Configuration>& finalists) {
        std::vector<Configuration> possible;
        const Space space(description_, problem);
        for (const Configuration& one : finalists)
            if (space.holds(one) && !known_invalid(problem, one)) possible.push_back(one);
        report_(fmt::format("{}: final of {}", description_.problem_key(problem), possible.size()),
                bench_.elapsed() / options_.seconds);
        const double problems = static_cast<double>(description_.sizes.size());
        const Bench::Goal goal{.noise = options_.noise,
                               .seconds = std::max(1.0, kShareOfFinal * options_.seconds / problems),
                               .counters = options_.counters,
                               .final = true};
        for (Outcome& outcome : bench_.measure(problem, possible, goal)) enter(std::move(outcome));
    }

    [[nodiscard]] bool known_invalid(std::size_t problem, const Configuration& configuration) const {
        return std::ranges::any_of(tuning_.outcomes, [&](const Outcome& one) {
            return one.problem == problem && one.invalidity != Invalidity::correct &&
                   one.configuration == configuration;
        });
    }

    /// In the place of what was known; when its first time was known stays.
    void enter(Outcome outcome) {
        const auto is_it = [&](const Outcome& one) {
            return one.problem == outcome.problem && one.configuration == outcome.configuration;
        };
        const auto before = std::ranges::find_if(tuning_.outcomes, is_it);
        if (before == tuning_.outcomes.end()) {
            tuning_.outcomes.push_back(std::move(outcome));
            return;
        }
        if (outcome.timed()) {
            outcome.at_seconds = before->at_seconds;
            outcome.timestamp = before->timestamp;
        }
        *before = std::move(outcome);
    }

    const Description& description_;
    const TuneOptions& options_;
    Bench& bench_;
    const Report& report_;
    Tuning tuning_;
};

}  // namespace

const Outcome* Tuning::best(std::size_t problem) const {
    const Outcome* best = nullptr;
    for (const Outcome& one : outcomes) {
        if (one.problem != problem || !one.timed()) continue;
        if (!best || one.final > best->final || (one.final == best->final && one.time_ns < best->time_ns)) best = &one;
    }
    return best;
}

Tuning tune(const Description& description, const TuneOptions& options, Bench& bench, const Report& report) {
    return Tuner(description, options, bench, report).run();
}

}  // namespace espalier::bench::tune
