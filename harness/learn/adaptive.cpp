#include "harness/learn/adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::bench::learn {
namespace {

constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();

std::vector<double> flat(const std::vector<std::vector<double>>& rows) {
    std::vector<double> all;
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
}

}  // namespace

AdaptiveSweep::AdaptiveSweep(const Matrix& grid, const AdaptiveOptions& options)
    : grid_(&grid),
      options_(options),
      distance_(grid),
      logs_(grid.rows(), std::vector(grid.candidates.size(), kUnmeasured)),
      failed_(grid.rows(), std::vector<bool>(grid.candidates.size())) {
    for (const std::size_t p : grid.all()) runnable_problems_ += runs(p);
}

/// How far the nearest problem is that a choice was measured for.
double AdaptiveSweep::nearest(std::size_t problem, std::size_t candidate) const {
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t p : order_)
        if (!std::isnan(logs_[p][candidate])) least = std::min(least, distance_(problem, p));
    return least;
}

bool AdaptiveSweep::open(std::size_t problem, std::size_t candidate) const {
    return grid_->state(problem, candidate) != CellState::unsupported;
}

bool AdaptiveSweep::runs(std::size_t problem) const {
    for (std::size_t c = 0; c < grid_->candidates.size(); ++c)
        if (open(problem, c)) return true;
    return false;
}

bool AdaptiveSweep::opening() const { return order_.size() < std::min(options_.first_problems, runnable_problems_); }

std::vector<AdaptiveSweep::Guess> AdaptiveSweep::guess(std::size_t problem, double caution) const {
    constexpr double kNowhere = 2;  // as far as anything is that was measured nowhere; it may well be the best
    std::vector<Guess> guesses(grid_->candidates.size());
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < guesses.size(); ++c) {
        if (!surrogate_->knows(c)) continue;
        guesses[c].log = surrogate_->log(problem, c);
        if (!surrogate_->measured(problem, c) && caution > 0)
            guesses[c].doubt = caution * (nearest(problem, c) + surrogate_->spread(problem, c));
        least = std::min(least, guesses[c].log);
    }
    for (std::size_t c = 0; c < guesses.size(); ++c) {
        if (surrogate_->knows(c)) continue;
        const std::size_t other = sibling(c);
        guesses[c] = other < guesses.size() ? guesses[other] : Guess{std::isinf(least) ? 0 : least, caution * kNowhere};
        if (other < guesses.size()) guesses[c].doubt += caution > 0 ? options_.sibling : 0;
    }
    return guesses;
}

/// The problem that lies farthest from all that were measured; first of all the one in the middle.
Batch AdaptiveSweep::farthest() const {
    Batch batch;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < grid_->rows(); ++p) {
        if (!runs(p)) continue;
        double far = order_.empty() ? 0 : std::numeric_limits<double>::infinity();
        if (order_.empty())
            for (std::size_t other = 0; other < grid_->rows(); ++other) far -= distance_(p, other);
        for (const std::size_t other : order_) far = std::min(far, distance_(p, other));
        if (far > best) batch.problem = p, best = far;
    }
    batch.candidates = one_of_each_variant(batch.problem);
    return batch;
}

/// Of every variant that runs the problem the configuration that seems best, the first at first.
std::vector<std::size_t> AdaptiveSweep::one_of_each_variant(std::size_t problem) const {
    const std::vector<Guess> guesses = guess(problem, 0);
    std::vector<std::size_t> ones;
    for (std::size_t c = 0; c < guesses.size(); ++c) {
        if (!open(problem, c)) continue;
        const bool same = !ones.empty() && grid_->candidates[ones.back()].variant == grid_->candidates[c].variant;
        if (!same)
            ones.push_back(c);
        else if (surrogate_->knows(c) && guesses[c].log < guesses[ones.back()].log)
            ones.back() = c;
    }
    return ones;
}

/// The configuration of the same variant that most is known of, or none: the number of candidates.
std::size_t AdaptiveSweep::sibling(std::size_t candidate) const {
    std::size_t best = grid_->candidates.size(), most = 0;
    for (std::size_t c = 0; c < grid_->candidates.size(); ++c)
        if (grid_->candidates[c].variant == grid_->candidates[candidate].variant && surrogate_->samples(c) > most)
            best = c, most = surrogate_->samples(c);
    return best;
}

/// Of all that was recorded; once for many records.
void AdaptiveSweep::learn() {
    if (!surrogate_) surrogate_.emplace(*grid_, flat(logs_));
}

Batch AdaptiveSweep::next() {
    learn();
    if (opening()) return farthest();
    // Once nothing seems to be at stake, the guesses are trusted less.
    double first = options_.caution;
    if (batches_ % options_.explore_every == options_.explore_every - 1) first *= options_.explore_caution;
    for (double caution = first; caution < 100 * first; caution *= 2)
        if (Batch batch = most_at_stake(caution); !batch.candidates.empty()) return batch;
    return {};
}

Batch AdaptiveSweep::most_at_stake(double caution) const {
    std::vector<Batch> batches(grid_->rows());
    std::vector<double> stakes(grid_->rows());
    for (std::size_t p = 0; p < grid_->rows(); ++p) {
        const std::vector<Guess> guesses = guess(p, caution);
        std::vector<std::size_t> choices, unknown;
        for (std::size_t c = 0; c < guesses.size(); ++c) {
            if (!open(p, c) || failed_[p][c]) continue;
            choices.push_back(c);
            if (std::isnan(logs_[p][c])) unknown.push_back(c);
        }
        if (unknown.empty()) continue;
        const auto at_best = [&](std::size_t c) { return guesses[c].log - guesses[c].doubt; };
        const std::size_t leader =
            *std::ranges::min_element(choices, {}, [&](std::size_t c) { return guesses[c].log; });
        const bool visited = unknown.size() < choices.size();
        double at_stake = 0;
        for (const std::size_t c : unknown)
            if (c != leader) at_stake = std::max(at_stake, guesses[leader].log + guesses[leader].doubt - at_best(c));
        if (at_stake <= options_.least_stake) continue;
        stakes[p] = at_stake;
        std::ranges::stable_sort(unknown, {}, at_best);
        const std::size_t least = visited ? 1 : options_.least_choices;
        std::size_t count = 0;
        while (count < unknown.size() && count < options_.most_choices &&
               (count < least || at_best(unknown[count]) <= guesses[leader].log))
            ++count;
        unknown.resize(count);
        if (visited) unknown.push_back(fastest(p));  // again, to compare the new ones with
        batches[p] = {p, unknown};
    }
    // What is learned about a problem helps its neighbours: one in the midst of others is worth more than a corner.
    Batch batch;
    double most = 0;
    for (std::size_t p = 0; p < grid_->rows(); ++p) {
        if (batches[p].candidates.empty()) continue;
        double worth = 0;
        for (std::size_t other = 0; other < grid_->rows(); ++other) {
            const double d = distance_(p, other) / options_.reach;
            worth += stakes[other] * std::exp(-d * d);
        }
        if (worth > most) most = worth, batch = batches[p];
    }
    return batch;
}

std::size_t AdaptiveSweep::fastest(std::size_t problem) const {
    std::size_t best = grid_->candidates.size();
    for (std::size_t c = 0; c < grid_->candidates.size(); ++c)
        if (!std::isnan(logs_[problem][c]) &&
            (best == grid_->candidates.size() || logs_[problem][c] < logs_[problem][best]))
            best = c;
    return best;
}

void AdaptiveSweep::record(const Batch& batch, const std::vector<double>& logs) {
    std::vector<double>& known = logs_[batch.problem];
    if (std::ranges::find(order_, batch.problem) == order_.end()) order_.push_back(batch.problem);
    double shift = 0;  // to the scale of what is known already
    for (std::size_t i = 0; i < logs.size(); ++i)
        if (!std::isnan(known[batch.candidates[i]]) && !std::isnan(logs[i]))
            shift = known[batch.candidates[i]] - logs[i];
    for (std::size_t i = 0; i < logs.size(); ++i) {
        known[batch.candidates[i]] = logs[i] + shift;
        failed_[batch.problem][batch.candidates[i]] = std::isnan(logs[i]);
    }
    measurements_ += logs.size();
    ++batches_;
    surrogate_.reset();
}

Matrix AdaptiveSweep::known() {
    learn();
    Matrix matrix = *grid_;
    for (std::size_t p = 0; p < matrix.rows(); ++p)
        for (std::size_t c = 0; c < matrix.candidates.size(); ++c)
            if (open(p, c)) {
                const CellState tried = failed_[p][c] ? CellState::missing : CellState::measured;
                const bool untried = std::isnan(logs_[p][c]) && !failed_[p][c];
                matrix.states[p * matrix.candidates.size() + c] = untried ? CellState::guessed : tried;
            }
    for (const std::size_t p : matrix.all()) surrogate_->enter(p, matrix);
    return matrix;
}

}  // namespace espalier::bench::learn
