#include "kernels/api/measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <vector>

#include "kernels/device/runtime.hpp"

namespace espalier {
namespace {

constexpr double kSample = 20'000;  // ns: a clock's grain and the cost of asking it are a hundredth of it
constexpr int kMostRepeats = 1000;
constexpr std::size_t kMostRounds = 30;
constexpr double kShareOfFirstRuns = 0.5;    // of the budget: most choices drop out in them, but rounds decide
constexpr double kShareOfASecondRun = 0.05;  // of the budget: a longer run is not all loading of code and pages
constexpr double kHopeless = 20;             // times the first choice
constexpr std::size_t kFewRounds = 3;        // below it the first choice stays in the race

/// The lower quartile of what a choice took: interruptions only add to it, most of all to work of several threads.
double typical(std::vector<double> samples) {
    const auto quartile = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 4);
    std::ranges::nth_element(samples, quartile);
    return std::max(*quartile, 1e-3);
}

/// Above it a ratio's best value after so many rounds is that of a choice which is slower.
double clearly_slower(std::size_t rounds) {
    constexpr std::array kBounds{4.0, 1.5, 1.2, 1.1, 1.05};  // an interruption takes longer than most runs
    return rounds <= kBounds.size() ? kBounds[rounds - 1] : 1.02;
}

/// Above it a ratio is enough to take the first choice's place after so many rounds.
double clearly_faster(std::size_t rounds) {
    if (rounds == 1) return 1.1;
    return rounds == 2 ? 1.05 : 1.01;
}

class Race {
public:
    Race(Trials& trials, std::span<const double> expected, double budget)
        : trials_(trials), expected_(expected), budget_(budget), runners_(expected.size()) {}

    std::optional<Measured> run() {
        run_each_once();
        while (rounds_ < kMostRounds && alive_.size() > 1 && next_round_fits()) {
            run_round();
            ++rounds_;
            drop_slower();
        }
        if (rounds_ > 0) return winner();
        if (alive_.size() != 1 || skipped_ || compared_ == 1) return std::nullopt;
        return Measured{0, 1, std::max(runners_[0].best, 1.0), compared_};  // everything else is hopeless
    }

private:
    struct Runner {
        double best = 0;              ///< ns of the budget that a run takes
        std::vector<double> samples;  ///< ns that a run takes, one for each round
    };

    [[nodiscard]] bool fits(double nanoseconds, double share = 1) const {
        return trials_.spent() + nanoseconds <= share * budget_;
    }

    /// Nanoseconds of the budget; nothing if it is wrong, or gets no memory.
    std::optional<double> check(std::size_t choice) try {
        const double before = trials_.spent();
        if (!trials_.check(choice)) return std::nullopt;
        return trials_.spent() - before;
    } catch (const std::bad_alloc&) {
        if (choice == 0) throw;
        return std::nullopt;
    } catch (const device::DeviceError& error) {
        if (choice == 0 || !error.out_of_memory()) throw;
        return std::nullopt;
    }

    /// Nanoseconds of the budget for another run.
    double again(std::size_t choice) {
        const double before = trials_.spent();
        trials_.time(choice, 1);
        return trials_.spent() - before;
    }

    void run_each_once() {
        const auto first = check(0);
        if (!first) return;  // such as a run of no work: there is nothing to compare
        double& base = runners_[0].best;
        base = *first;
        if (base <= kShareOfASecondRun * budget_) base = std::min(base, again(0));
        alive_.push_back(0);
        for (const std::size_t choice : others()) {
            if (!fits(base * expected_[choice], kShareOfFirstRuns)) {
                skipped_ = true;
                continue;
            }
            const auto once = check(choice);
            if (!once) continue;
            ++compared_;
            double& best = runners_[choice].best;
            best = *once;
            // A first run may be all loading of code and pages, or have been interrupted.
            if (best > kHopeless * base && fits(best)) best = std::min(best, again(choice));
            if (best <= kHopeless * base) alive_.push_back(choice);
        }
    }

    /// All but the first choice, those first that are expected to be fast.
    [[nodiscard]] std::vector<std::size_t> others() const {
        std::vector<std::size_t> order(runners_.size() - 1);
        std::iota(order.begin(), order.end(), std::size_t{1});
        std::ranges::stable_sort(order, {}, [&](std::size_t choice) { return expected_[choice]; });
        return order;
    }

    /// Of the budget for the next round, and for a last look at the winner's results.
    [[nodiscard]] double next_round_takes() const {
        double all = 0, longest = 0;
        for (const std::size_t choice : alive_) {
            all += repeats() * runners_[choice].best;
            longest = std::max(longest, runners_[choice].best);
        }
        return all + longest;
    }

    /// Leaves out the slowest where that makes it fit, but never the first choice.
    bool next_round_fits() {
        while (!fits(next_round_takes()) && alive_.size() > 2) {
            const auto slowest =
                std::max_element(alive_.begin() + (alive_.front() == 0 ? 1 : 0), alive_.end(),
                                 [&](std::size_t a, std::size_t b) { return runners_[a].best < runners_[b].best; });
            alive_.erase(slowest);
        }
        return fits(next_round_takes());
    }

    /// The same for all: what is compared has run as often in a row.
    [[nodiscard]] int repeats() const {
        double least = std::numeric_limits<double>::max();
        for (const std::size_t choice : alive_) least = std::min(least, runners_[choice].best);
        return static_cast<int>(std::clamp(std::ceil(kSample / std::max(least, 1.0)), 1.0, double{kMostRepeats}));
    }

    /// Forwards and backwards by turns: what changes steadily meanwhile cancels out.
    void run_round() {
        const int in_a_row = repeats();
        std::vector<std::size_t> order = alive_;
        if (rounds_ % 2 == 1) std::ranges::reverse(order);
        for (const std::size_t choice : order) {
            Runner& runner = runners_[choice];
            const double before = trials_.spent();
            runner.samples.push_back(trials_.time(choice, in_a_row) / in_a_row);
            runner.best = std::min(runner.best, (trials_.spent() - before) / in_a_row);
        }
    }

    /// Ratios of what two choices took in the rounds that both ran.
    [[nodiscard]] std::vector<double> ratios(std::size_t a, std::size_t b) const {
        const auto &first = runners_[a].samples, &second = runners_[b].samples;
        std::vector<double> all(std::min(first.size(), second.size()));
        for (std::size_t round = 0; round < all.size(); ++round)
            all[round] = first[round] / std::max(second[round], 1e-3);
        return all;
    }

    /// Those that are left, the fastest first.
    [[nodiscard]] std::vector<std::size_t> standing() const {
        std::vector<double> scores(runners_.size());
        for (const std::size_t choice : alive_) scores[choice] = typical(runners_[choice].samples);
        std::vector<std::size_t> order = alive_;
        std::ranges::stable_sort(order, {}, [&](std::size_t choice) { return scores[choice]; });
        return order;
    }

    void drop_slower() {
        const std::size_t leader = standing().front();
        std::erase_if(alive_, [&](std::size_t choice) {
            return choice != leader && (choice != 0 || rounds_ >= kFewRounds) &&
                   std::ranges::min(ratios(choice, leader)) > clearly_slower(rounds_);
        });
    }

    /// The fastest whose results are still right.
    std::optional<Measured> winner() {
        std::vector<std::size_t> order = standing();
        const auto time_of = [&](std::size_t choice) { return typical(runners_[choice].samples); };
        if (alive_.front() == 0 && time_of(0) <= clearly_faster(rounds_) * time_of(order.front()))
            std::rotate(order.begin(), std::ranges::find(order, std::size_t{0}), order.end());
        for (const std::size_t choice : order) {
            if (choice != 0 && !check(choice)) continue;
            return Measured{choice, choice == 0 ? 1 : time_of(0) / time_of(choice), time_of(choice), compared_};
        }
        return std::nullopt;
    }

    Trials& trials_;
    std::span<const double> expected_;
    double budget_;
    std::vector<Runner> runners_;
    std::vector<std::size_t> alive_;  ///< the first choice, if it is one of them, before all others
    std::size_t rounds_ = 0;
    bool skipped_ = false;  ///< some did not fit
    int compared_ = 1;      ///< choices that ran and were right
};

}  // namespace

std::optional<Measured> measure(Trials& trials, std::span<const double> expected, std::chrono::nanoseconds budget) {
    return Race(trials, expected, static_cast<double>(budget.count())).run();
}

}  // namespace espalier
