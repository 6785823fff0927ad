#include "harness/select/adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace espalier::select {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Sizes count by their ratio.
double position(double value) { return std::log2(1 + std::max(0.0, value)); }

}  // namespace

AdaptiveSweep::AdaptiveSweep(const Matrix& grid, const AdaptiveOptions& options)
    : grid_(&grid),
      options_(options),
      logs_(grid.rows(), std::vector(grid.candidates.size(), kUnknown)),
      failed_(grid.rows(), std::vector<bool>(grid.candidates.size())) {
    std::vector<std::vector<double>> axes;
    for (std::size_t column = 0; column < grid.columns.size(); ++column) {
        if (grid.columns[column].derived) continue;
        std::vector<double> axis;
        for (std::size_t p = 0; p < grid.rows(); ++p) axis.push_back(position(grid.value(p, column)));
        if (grid.columns[column].categories > 0) {  // an axis of its own for each of them
            for (int category = 0; category < grid.columns[column].categories; ++category) {
                std::vector<double> is;
                for (std::size_t p = 0; p < grid.rows(); ++p) is.push_back(grid.value(p, column) == category ? 0.7 : 0);
                axes.push_back(is);
            }
            continue;
        }
        const auto [least, most] = std::minmax_element(axis.begin(), axis.end());
        const double low = *least, length = *most - *least;
        if (length == 0) continue;
        for (double& x : axis) x = (x - low) / length;
        axes.push_back(axis);
    }
    axes_ = axes.size();
    for (std::size_t p = 0; p < grid.rows(); ++p)
        for (const auto& axis : axes) positions_.push_back(axis[p]);
}

double AdaptiveSweep::distance(std::size_t a, std::size_t b) const {
    double sum = 0;
    for (std::size_t i = 0; i < axes_; ++i) {
        const double d = positions_[a * axes_ + i] - positions_[b * axes_ + i];
        sum += d * d;
    }
    return std::sqrt(sum);
}

bool AdaptiveSweep::open(std::size_t problem, std::size_t candidate) const {
    return grid_->state(problem, candidate) != CellState::unsupported;
}

std::vector<AdaptiveSweep::Guess> AdaptiveSweep::guess(std::size_t problem, double caution) const {
    std::vector<Guess> guesses(grid_->candidates.size());
    for (std::size_t c = 0; c < guesses.size(); ++c) {
        double weights = 0, sum = 0, nearest = 2;
        for (const std::size_t p : order_) {
            if (std::isnan(logs_[p][c])) continue;
            const double d = distance(problem, p);
            const double weight = 1 / (1e-4 + d * d * d);
            weights += weight, sum += weight * logs_[p][c];
            nearest = std::min(nearest, d);
        }
        guesses[c] = {weights > 0 ? sum / weights : 0, caution * nearest};
    }
    return guesses;
}

/// The problem that lies farthest from all that were measured; first of all the one in the middle.
Batch AdaptiveSweep::farthest() const {
    Batch batch;
    double best = -1;
    for (std::size_t p = 0; p < grid_->rows(); ++p) {
        double far = order_.empty() ? 0 : std::numeric_limits<double>::infinity();
        if (order_.empty())
            for (std::size_t other = 0; other < grid_->rows(); ++other) far -= distance(p, other);
        for (const std::size_t other : order_) far = std::min(far, distance(p, other));
        if (batch.candidates.empty() || far > best) {
            batch.problem = p, best = far;
            batch.candidates.assign(1, 0);
        }
    }
    batch.candidates.clear();
    for (std::size_t c = 0; c < grid_->candidates.size(); ++c)
        if (open(batch.problem, c)) batch.candidates.push_back(c);
    return batch;
}

Batch AdaptiveSweep::next() const {
    if (order_.size() < std::min(options_.full_problems, grid_->rows())) return farthest();
    // Once nothing seems to be at stake, the guesses are trusted less.
    for (double caution = options_.caution; caution < 100 * options_.caution; caution *= 2)
        if (Batch batch = most_at_stake(caution); !batch.candidates.empty()) return batch;
    return {};
}

Batch AdaptiveSweep::most_at_stake(double caution) const {
    std::vector<Batch> batches(grid_->rows());
    std::vector<double> stakes(grid_->rows());
    for (std::size_t p = 0; p < grid_->rows(); ++p) {
        std::vector<Guess> guesses = guess(p, caution);
        std::vector<std::size_t> choices, unknown;
        for (std::size_t c = 0; c < guesses.size(); ++c) {
            if (!open(p, c) || failed_[p][c]) continue;
            choices.push_back(c);
            if (std::isnan(logs_[p][c]))
                unknown.push_back(c);
            else
                guesses[c] = {logs_[p][c], 0};
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
    std::vector<double>& known = logs_[batch.problem];
    if (std::ranges::find(order_, batch.problem) == order_.end()) order_.push_back(batch.problem);
    double shift = 0;  // to the scale of what is known already
    for (std::size_t i = 0; i < logs.size(); ++i)
        if (!std::isnan(known[batch.candidates[i]])) shift = known[batch.candidates[i]] - logs[i];
    for (std::size_t i = 0; i < logs.size(); ++i) {
        known[batch.candidates[i]] = logs[i] + shift;
        failed_[batch.problem][batch.candidates[i]] = std::isnan(logs[i]);
    }
    double best = std::numeric_limits<double>::infinity();
    for (const double log : known)
        if (!std::isnan(log)) best = std::min(best, log);
    for (double& log : known) log -= best;
    measurements_ += logs.size();
}

Matrix AdaptiveSweep::known() const {
    constexpr double kSame = 0.01, kPessimism = 0.25;
    Matrix matrix = *grid_;
    matrix.problems.clear(), matrix.values.clear(), matrix.states.clear();
    matrix.slowdown.clear(), matrix.loss.clear();
    std::vector<std::size_t> rows = order_;
    std::ranges::sort(rows);
    for (const std::size_t p : rows) {
        matrix.problems.push_back(grid_->problems[p]);
        const auto row = grid_->row(p);
        matrix.values.insert(matrix.values.end(), row.begin(), row.end());
        const std::vector<Guess> guesses = guess(p, options_.caution);
        std::vector<double> logs = logs_[p];
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < logs.size(); ++c) {
            if (std::isnan(logs[c])) logs[c] = guesses[c].log + kPessimism * guesses[c].doubt;
            if (open(p, c)) best = std::min(best, logs[c]);
        }
        for (std::size_t c = 0; c < logs.size(); ++c) {
            const double log = logs[open(p, c) ? c : matrix.baseline] - best;
            matrix.states.push_back(open(p, c) ? CellState::measured : CellState::unsupported);
            matrix.slowdown.push_back(log);
            matrix.loss.push_back(measured_loss(log, log <= std::log1p(kSame)));
        }
    }
    return matrix;
}

}  // namespace espalier::select
