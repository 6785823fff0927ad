#include "harness/bench/families/knn_check.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace espalier::bench::knn {
namespace {

/// Room for the rounding of the sums and of the result.
constexpr double kSumError = 1e-6;

}  // namespace

PredictionCheck::PredictionCheck(const std::vector<double>& distances, std::int64_t k, Vote vote, DistanceError error)
    : vote_(vote), neighbours_(reference::nearest(distances, k)) {
    if (neighbours_.empty()) return;
    const double last = neighbours_.back().distance;
    const double margin = std::isfinite(last) ? error.at(last) : 0;
    const auto weights = reference::vote_weights(neighbours_, vote);
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
        const auto& [distance, index] = neighbours_[i];
        if (std::isnan(distance)) continue;
        if (margin == 0 || distance < last - margin)
            certain_.push_back({index, weights[i]});
        else
            ++places_;
    }
    if (margin > 0)
        for (std::size_t i = 0; i < distances.size(); ++i)
            if (std::abs(distances[i] - last) <= margin)
                perhaps_.push_back({static_cast<std::int32_t>(i), weights.back()});
    if (vote == Vote::majority) return;
    const double nearest = neighbours_.front().distance;
    coincident_ = error.absolute > 0 && nearest <= error.absolute;
    weight_error_ = kSumError + (nearest > 0 && std::isfinite(nearest) ? error.at(nearest) / nearest : 0);
}

std::int32_t PredictionCheck::expected_class(std::span<const std::int32_t> point_classes) const {
    return reference::knn_class(neighbours_, point_classes, vote_);
}

double PredictionCheck::expected_target(std::span<const float> point_targets) const {
    return reference::knn_target(neighbours_, point_targets, vote_);
}

bool PredictionCheck::accepts_class(std::int32_t actual, std::span<const std::int32_t> point_classes) const {
    if (actual == expected_class(point_classes)) return true;
    if (vote_ == Vote::majority && perhaps_.empty()) return false;
    const auto class_of = [&](const Voter& voter) { return point_classes[static_cast<std::size_t>(voter.index)]; };
    std::set<std::int32_t> candidates;
    for (const auto* voters : {&certain_, &perhaps_})
        for (const Voter& voter : *voters) candidates.insert(class_of(voter));
    if (!candidates.contains(actual)) return false;
    if (coincident_) return true;

    const auto certain_weight = [&](std::int32_t wanted) {
        double weight = 0;
        for (const Voter& voter : certain_) weight += class_of(voter) == wanted ? voter.weight : 0;
        return weight;
    };
    const auto uncertain = [&](std::int32_t wanted) {
        return static_cast<std::size_t>(std::count_if(perhaps_.begin(), perhaps_.end(),
                                                      [&](const Voter& voter) { return class_of(voter) == wanted; }));
    };
    // The most that the actual class can have against the least that every other one must have.
    const double each = perhaps_.empty() ? 0 : perhaps_.front().weight;
    const double most = certain_weight(actual) + each * static_cast<double>(std::min(places_, uncertain(actual)));
    return std::none_of(candidates.begin(), candidates.end(), [&](std::int32_t other) {
        const std::size_t rest = perhaps_.size() - uncertain(other);
        const double least = certain_weight(other) + each * static_cast<double>(places_ > rest ? places_ - rest : 0);
        if (vote_ == Vote::majority && least == most && other < actual) return true;
        return other != actual && least * (1 - weight_error_) > most * (1 + weight_error_);
    });
}

bool PredictionCheck::accepts_target(float actual, std::span<const float> point_targets) const {
    const double expected = expected_target(point_targets);
    if (std::isnan(expected)) return std::isnan(actual);
    const auto target_of = [&](const Voter& voter) {
        return static_cast<double>(point_targets[static_cast<std::size_t>(voter.index)]);
    };
    double sum = 0, total = 0, smallest = expected, largest = expected;
    for (const auto* voters : {&certain_, &perhaps_})
        for (const Voter& voter : *voters) {
            smallest = std::min(smallest, target_of(voter));
            largest = std::max(largest, target_of(voter));
        }
    std::vector<double> uncertain;
    for (const Voter& voter : perhaps_) uncertain.push_back(target_of(voter));
    std::sort(uncertain.begin(), uncertain.end());
    for (const Voter& voter : certain_) sum += voter.weight * target_of(voter), total += voter.weight;
    double low = sum, high = sum;
    const double each = perhaps_.empty() ? 0 : perhaps_.front().weight;
    for (std::size_t i = 0; i < places_ && i < uncertain.size(); ++i) {
        low += each * uncertain[i];
        high += each * uncertain[uncertain.size() - 1 - i];
        total += each;
    }
    low = total > 0 ? std::min(low / total, expected) : expected;
    high = total > 0 ? std::max(high / total, expected) : expected;
    if (coincident_) low = smallest, high = largest;
    const double room =
        kSumError * std::max(std::abs(smallest), std::abs(largest)) + weight_error_ * (largest - smallest);
    return static_cast<double>(actual) >= low - room && static_cast<double>(actual) <= high + room;
}

}  // namespace espalier::bench::knn
