#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernels/api/exact_search.hpp"

/// The vote of neighbours whose distances are doubles.
namespace espalier::exact {

/// The weight of each neighbour. Distances ascend; those at 0 (or where 1 / distance overflows) are the only ones
/// that count if there are any. NaN has no say.
inline std::vector<double> weights_of(std::span<const Neighbour> neighbours, Vote vote) {
    std::vector<double> weights;
    const auto is_zero = [](double distance) { return std::isinf(1 / distance); };
    for (const Neighbour& neighbour : neighbours) {
        if (std::isnan(neighbour.distance)) break;
        if (vote == Vote::majority)
            weights.push_back(1);
        else if (is_zero(neighbours[0].distance))
            weights.push_back(is_zero(neighbour.distance) ? 1 : 0);
        else
            weights.push_back(1 / neighbour.distance);
    }
    return weights;
}

/// The class with the largest weight, the smallest one at a tie.
inline std::int32_t predict(std::span<const Neighbour> neighbours, Vote vote, std::span<const std::int32_t> classes) {
    const std::vector<double> weights = weights_of(neighbours, vote);
    struct Ballot {
        std::int32_t candidate;
        double weight;
    };
    std::vector<Ballot> ballots;
    for (std::size_t j = 0; j < weights.size(); ++j)
        ballots.push_back({classes[static_cast<std::size_t>(neighbours[j].index)], weights[j]});
    std::ranges::stable_sort(ballots, {}, &Ballot::candidate);
    Ballot best{kNoClass, -1};
    for (std::size_t i = 0; i < ballots.size();) {
        Ballot sum{ballots[i].candidate, 0};
        for (; i < ballots.size() && ballots[i].candidate == sum.candidate; ++i) sum.weight += ballots[i].weight;
        if (sum.weight > best.weight) best = sum;
    }
    return best.candidate;
}

/// Each class's share of the votes, from class 0 on: `shares` sums to 1. All are NaN if no neighbour has a say. With
/// infinite distances only, which weigh nothing, neighbours count alike.
inline void share_votes(std::span<const Neighbour> neighbours, Vote vote, std::span<const std::int32_t> classes,
                        std::span<double> shares) {
    const std::vector<double> weights = weights_of(neighbours, vote);
    std::ranges::fill(shares, weights.empty() ? std::numeric_limits<double>::quiet_NaN() : 0);
    if (weights.empty()) return;
    const double largest = std::ranges::max(weights);  // the sum of weights may be infinite
    double total = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) {
        const double weight = largest > 0 ? weights[j] / largest : 1;
        shares[static_cast<std::size_t>(classes[static_cast<std::size_t>(neighbours[j].index)])] += weight;
        total += weight;
    }
    for (double& share : shares) share /= total;
}

/// The weighted mean of the targets. With infinite distances only, which weigh nothing, the plain mean.
inline double predict(std::span<const Neighbour> neighbours, Vote vote, std::span<const double> targets) {
    const std::vector<double> weights = weights_of(neighbours, vote);
    double sum = 0, plain_sum = 0, total = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) {
        const double target = targets[static_cast<std::size_t>(neighbours[j].index)];
        if (weights[j] > 0) sum += weights[j] * target;
        plain_sum += target;
        total += weights[j];
    }
    if (weights.empty()) return std::numeric_limits<double>::quiet_NaN();
    return total > 0 ? sum / total : plain_sum / static_cast<double>(weights.size());
}

}  // namespace espalier::exact
