#include "harness/learn/adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace espalier::bench::learn {
namespace {

constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();

}  // namespace

AdaptiveSweep::AdaptiveSweep(const Matrix& grid, const AdaptiveOptions& options)
    : grid_(&grid),
      options_(options),
      positions_(grid),
      logs_(grid.rows(), std::vector(grid.candidates.size(), kUnmeasured)),
      failed_(grid.rows(), std::vector<bool>(grid.candidates.size())),
      levels_(grid.rows()) {
    for (const std::size_t p : grid.all()) runnable_problems_ += runs(p);
    model();
}

double AdaptiveSweep::distance(std::size_t a, std::size_t b) const {
    return learn::distance(positions_.of(a), positions_.of(b));
}

/// Of each problem only some choices were measured: whether they are good ones or the slow ones shows when their
/// logarithms are compared with what their models say, and that again changes the models.
void AdaptiveSweep::model() {
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds; ++round) {
        std::vector<PowerLaw> laws;
        for (std::size_t c = 0; c < grid_->candidates.size(); ++c) {
            const auto samples = samples_of(c);
            laws.push_back(samples.empty() ? PowerLaw() : PowerLaw(samples));
        }
        for (const std::size_t p : order_) {
            double sum = 0;
            std::size_t count = 0;
            for (std::size_t c = 0; c < laws.size(); ++c) {
                if (std::isnan(logs_[p][c])) continue;
                sum += logs_[p][c] - laws[c].at(positions_.of(p));
                ++count;
            }
            if (count > 0) levels_[p] = sum / static_cast<double>(count);
        }
    }
    models_.clear();
    for (std::size_t c = 0; c < grid_->candidates.size(); ++c) models_.emplace_back(samples_of(c));
}

std::vector<Sample> AdaptiveSweep::samples_of(std::size_t candidate) const {
    std::vector<Sample> samples;
    for (const std::size_t p : order_)
        if (!std::isnan(logs_[p][candidate])) samples.push_back({positions_.of(p), logs_[p][candidate] - levels_[p]});
    return samples;
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
        if (models_[c].empty()) continue;
        guesses[c] = {models_[c].at(positions_.of(problem)), caution * models_[c].nearest(positions_.of(problem))};
        least = std::min(least, guesses[c].log);
    }
    for (std::size_t c = 0; c < guesses.size(); ++c) {
        if (!models_[c].empty()) continue;
        const std::size_t other = sibling(c);
        guesses[c] = other < models_.size() ? guesses[other] : Guess{std::isinf(least) ? 0 : least, caution * kNowhere};
        if (other < models_.size()) guesses[c].doubt += caution > 0 ? options_.sibling : 0;
    }
    for (std::size_t c = 0; c < guesses.size(); ++c)
        if (!std::isnan(logs_[problem][c])) guesses[c] = {logs_[problem][c] - levels_[problem], 0};
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
            for (std::size_t other = 0; other < grid_->rows(); ++other) far -= distance(p, other);
        for (const std::size_t other : order_) far = std::min(far, distance(p, other));
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
        else if (!models_[c].empty() && guesses[c].log < guesses[ones.back()].log)
            ones.back() = c;
    }
    return ones;
}

/// The configuration of the same variant that most is known of, or none: the number of candidates.
std::size_t AdaptiveSweep::sibling(std::size_t candidate) const {
    std::size_t best = models_.size();
    for (std::size_t c = 0; c < models_.size(); ++c)
        if (grid_->candidates[c].variant == grid_->candidates[candidate].variant &&
            models_[c].samples() > (best == models_.size() ? 0 : models_[best].samples()))
            best = c;
    return best;
}

Batch AdaptiveSweep::next() const {
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
            const double d = distance(p, other) / options_.reach;
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
    enter(batch, logs);
    model();
}

void AdaptiveSweep::record(std::span<const Batch> batches, std::span<const std::vector<double>> logs) {
    for (std::size_t i = 0; i < batches.size(); ++i)
        if (!batches[i].candidates.empty()) enter(batches[i], logs[i]);
    model();
}

void AdaptiveSweep::enter(const Batch& batch, const std::vector<double>& logs) {
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
}

Matrix AdaptiveSweep::known() const {
    Matrix matrix = *grid_;
    for (const std::size_t p : grid_->all()) enter(p, matrix);
    return matrix;
}

void AdaptiveSweep::enter(std::size_t problem, Matrix& matrix) const {
    constexpr double kSame = 0.01, kPessimism = 0.25;
    std::vector<double> logs;
    double best = std::numeric_limits<double>::infinity(), slowest = -best;
    for (const Guess& guess : guess(problem, options_.caution)) {
        const std::size_t c = logs.size();
        logs.push_back(guess.log + kPessimism * guess.doubt);
        if (!open(problem, c) || failed_[problem][c]) continue;
        best = std::min(best, logs[c]), slowest = std::max(slowest, logs[c]);
    }
    for (std::size_t c = 0; c < logs.size(); ++c) {
        const std::size_t cell = problem * logs.size() + c;
        const std::size_t runs = open(problem, c) ? c : matrix.baseline;
        const double log = failed_[problem][runs] ? slowest - best : logs[runs] - best;
        const bool missing = open(problem, c) && failed_[problem][c];
        matrix.states[cell] = missing            ? CellState::missing
                              : open(problem, c) ? CellState::measured
                                                 : CellState::unsupported;
        matrix.slowdown[cell] = log;
        matrix.loss[cell] =
            missing && c != matrix.baseline ? kInfeasible : measured_loss(log, log <= std::log1p(kSame));
    }
}

}  // namespace espalier::bench::learn
