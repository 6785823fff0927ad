#include "harness/adaptive/adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::bench::learn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr double kUncertaintyWeight = 0.5;   // log slowdown by which a prediction may be off an axis's length away
constexpr double kExploreFactor = 4;         // every so many batches uncertainty weighs more by this factor:
constexpr std::size_t kExploreEvery = 3;     // what is wrongly believed to be slow is never measured otherwise
constexpr double kSibling = 0.2;             // log slowdown by which configurations of a variant may differ
constexpr double kLeastAcquisition = 0.005;  // log slowdown that is not worth a measurement
constexpr double kLengthScale = 0.3;         // as far as a measurement tells something about others; an axis is 1 long
constexpr std::size_t kLeastChoices = 3;     // measured together, so that their ratios are paired
constexpr std::size_t kMostChoices = 6;

}  // namespace

AdaptiveSweep::AdaptiveSweep(const Matrix& grid)
    : grid_(&grid),
      distance_(grid, Distances::Axes::all),
      width_(grid.candidates.size()),
      logs_(grid.states.size(), std::numeric_limits<double>::quiet_NaN()),
      failed_(grid.states.size()) {
    for (const std::size_t p : grid.all()) runnable_problems_ += runs(p);
}

bool AdaptiveSweep::open(std::size_t problem, std::size_t candidate) const {
    return grid_->state(problem, candidate) != CellState::unsupported;
}

bool AdaptiveSweep::timed(std::size_t problem, std::size_t candidate) const {
    return !std::isnan(logs_[problem * width_ + candidate]);
}

bool AdaptiveSweep::runs(std::size_t problem) const {
    return std::ranges::any_of(grid_->all_candidates(), [&](std::size_t c) { return open(problem, c); });
}

bool AdaptiveSweep::opening() const { return order_.size() < std::min(kFirstProblems, runnable_problems_); }

std::vector<AdaptiveSweep::Prediction> AdaptiveSweep::predict(std::size_t problem, double weight) const {
    constexpr double kNowhere = 2;  // as far as anything is that was measured nowhere; it may well be the best
    std::vector<Prediction> predictions(width_);
    double least = kInfinity;
    for (std::size_t c = 0; c < width_; ++c) {
        if (surrogate_->samples(c) == 0) continue;
        predictions[c] = {surrogate_->log(problem, c), weight * surrogate_->uncertainty(problem, c)};
        least = std::min(least, predictions[c].log);
    }
    for (std::size_t c = 0; c < width_; ++c) {
        if (surrogate_->samples(c) > 0) continue;
        const std::size_t other = sibling(c);
        predictions[c] =
            other < width_ ? predictions[other] : Prediction{std::isinf(least) ? 0 : least, weight * kNowhere};
        if (other < width_ && weight > 0) predictions[c].uncertainty += kSibling;
    }
    return predictions;
}

/// The problem that lies farthest from all that were measured; first of all the one in the middle.
Batch AdaptiveSweep::farthest() const {
    Batch batch;
    double best = -kInfinity;
    for (const std::size_t p : grid_->all()) {
        if (!runs(p)) continue;
        double far = order_.empty() ? 0 : kInfinity;
        if (order_.empty())
            for (const std::size_t other : grid_->all()) far -= distance_(p, other);
        for (const std::size_t other : order_) far = std::min(far, distance_(p, other));
        if (far > best) batch.problem = p, best = far;
    }
    batch.candidates = one_of_each_variant(batch.problem);
    return batch;
}

/// Every variant that runs the problem with the configuration that seems best, at first with the first one.
std::vector<std::size_t> AdaptiveSweep::one_of_each_variant(std::size_t problem) const {
    const std::vector<Prediction> predictions = predict(problem, 0);
    std::vector<std::size_t> ones;
    for (std::size_t c = 0; c < width_; ++c) {
        if (!open(problem, c)) continue;
        const bool same = !ones.empty() && grid_->candidates[ones.back()].variant == grid_->candidates[c].variant;
        if (!same)
            ones.push_back(c);
        else if (surrogate_->samples(c) > 0 && predictions[c].log < predictions[ones.back()].log)
            ones.back() = c;
    }
    return ones;
}

/// The configuration of the same variant that most is known of, or none: the number of candidates.
std::size_t AdaptiveSweep::sibling(std::size_t candidate) const {
    std::size_t best = width_, most = 0;
    for (std::size_t c = 0; c < width_; ++c)
        if (grid_->candidates[c].variant == grid_->candidates[candidate].variant && surrogate_->samples(c) > most)
            best = c, most = surrogate_->samples(c);
    return best;
}

/// Once for many records.
void AdaptiveSweep::learn() {
    if (!surrogate_) surrogate_.emplace(*grid_, distance_, logs_);
}

Batch AdaptiveSweep::next() {
    learn();
    if (opening()) return farthest();
    // While nothing is worth a measurement, uncertainty weighs more and more.
    const double first = kUncertaintyWeight * (batches_ % kExploreEvery == kExploreEvery - 1 ? kExploreFactor : 1);
    for (double weight = first; weight < 100 * first; weight *= 2)
        if (Batch batch = best_batch(weight); !batch.candidates.empty()) return batch;
    return {};
}

/// What to measure of a problem, and its acquisition value: by how much a choice that was not measured may beat the one
/// that seems best.
std::pair<Batch, double> AdaptiveSweep::acquisition(std::size_t problem, double weight) const {
    const std::vector<Prediction> predictions = predict(problem, weight);
    std::vector<std::size_t> choices, unknown, known;
    for (std::size_t c = 0; c < width_; ++c) {
        if (!open(problem, c) || failed_[problem * width_ + c]) continue;
        choices.push_back(c);
        (timed(problem, c) ? known : unknown).push_back(c);
    }
    if (unknown.empty()) return {};
    const auto at_best = [&](std::size_t c) { return predictions[c].log - predictions[c].uncertainty; };
    const auto seems = [&](std::size_t c) { return predictions[c].log; };
    const std::size_t leader = *std::ranges::min_element(choices, {}, seems);
    double value = 0;
    for (const std::size_t c : unknown)
        if (c != leader)
            value = std::max(value, predictions[leader].log + predictions[leader].uncertainty - at_best(c));
    if (value <= kLeastAcquisition) return {};
    std::ranges::stable_sort(unknown, {}, at_best);
    const std::size_t least = known.empty() ? kLeastChoices : 1;
    std::size_t count = 0;
    while (count < unknown.size() && count < kMostChoices &&
           (count < least || at_best(unknown[count]) <= predictions[leader].log))
        ++count;
    unknown.resize(count);
    // The fastest again, to compare the new ones with.
    if (!known.empty()) unknown.push_back(*std::ranges::min_element(known, {}, seems));
    return {{problem, unknown}, value};
}

Batch AdaptiveSweep::best_batch(double weight) const {
    std::vector<std::pair<Batch, double>> values;
    for (const std::size_t p : grid_->all()) values.push_back(acquisition(p, weight));
    // What is learned about a problem helps its neighbours: one in the midst of others is worth more than a corner.
    Batch batch;
    double most = 0;
    for (const std::size_t p : grid_->all()) {
        if (values[p].first.candidates.empty()) continue;
        double worth = 0;
        for (const std::size_t other : grid_->all()) {
            const double d = distance_(p, other) / kLengthScale;
            worth += values[other].second * std::exp(-d * d);
        }
        if (worth > most) most = worth, batch = values[p].first;
    }
    return batch;
}

void AdaptiveSweep::record(const Batch& batch, const std::vector<double>& logs) {
    const auto cell = [&](std::size_t i) { return batch.problem * width_ + batch.candidates[i]; };
    if (std::ranges::find(order_, batch.problem) == order_.end()) order_.push_back(batch.problem);
    double shift = 0;  // to the scale of what is known already
    for (std::size_t i = 0; i < logs.size(); ++i)
        if (!std::isnan(logs_[cell(i)]) && !std::isnan(logs[i])) shift = logs_[cell(i)] - logs[i];
    for (std::size_t i = 0; i < logs.size(); ++i) {
        logs_[cell(i)] = logs[i] + shift;
        failed_[cell(i)] = std::isnan(logs[i]);
    }
    measurements_ += logs.size();
    ++batches_;
    surrogate_.reset();
}

Matrix AdaptiveSweep::known() {
    learn();
    Matrix matrix = *grid_;
    for (std::size_t cell = 0; cell < logs_.size(); ++cell)
        if (matrix.states[cell] != CellState::unsupported)
            matrix.states[cell] = failed_[cell]             ? CellState::missing
                                  : std::isnan(logs_[cell]) ? CellState::imputed
                                                            : CellState::measured;
    for (const std::size_t p : matrix.all()) surrogate_->enter(p, matrix);
    return matrix;
}

}  // namespace espalier::bench::learn
