#pragma once

#include <cstdint>
#include <limits>

#include "kernels/problems/knn.hpp"

namespace espalier::knn {

/// The neighbours of one query in the lists that `smallest_k` wrote for `rows` queries.
struct Neighbours {
    const float* distances;       ///< k x rows
    const std::int32_t* indices;  ///< k x rows
    std::int64_t rows, row, k;
    Vote vote;

    /// The same lists, seen by another query.
    [[nodiscard]] constexpr Neighbours of(std::int64_t other) const {
        Neighbours neighbours = *this;
        neighbours.row = other;
        return neighbours;
    }

    [[nodiscard]] constexpr float distance(std::int64_t j) const { return distances[j * rows + row]; }
    [[nodiscard]] constexpr std::int32_t index(std::int64_t j) const { return indices[j * rows + row]; }

    /// Whether the j-th neighbour exists and has a say.
    [[nodiscard]] constexpr bool votes(std::int64_t j) const {
        return index(j) != kNoIndex && distance(j) == distance(j);
    }

    /// Distances ascend, so that the first one tells whether any is 0.
    [[nodiscard]] constexpr double weight(std::int64_t j) const {
        if (vote == Vote::majority) return 1;
        if (distance(0) == 0) return distance(j) == 0 ? 1 : 0;
        return 1 / static_cast<double>(distance(j));
    }
};

/// The class with the largest weight, the smallest one at a tie. One pass per class that occurs, in
/// ascending order, instead of a counter per class: there may be more classes than memory for counters,
/// and k is small.
constexpr std::int32_t predict_class(const Neighbours& neighbours, const std::int32_t* point_classes) {
    constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();
    std::int32_t best = kNoClass;
    double best_weight = -1;
    for (std::int32_t current = kNoClass; current != kLast;) {
        std::int32_t next = kLast;
        double weight = 0;
        for (std::int64_t j = 0; j < neighbours.k; ++j) {
            if (!neighbours.votes(j)) continue;
            const std::int32_t other = point_classes[neighbours.index(j)];
            if (other == current) weight += neighbours.weight(j);
            if (other > current && other < next) next = other;
        }
        if (current != kNoClass && weight > best_weight) {
            best = current;
            best_weight = weight;
        }
        current = next;
    }
    return best;
}

/// The weighted mean of the targets. With infinite distances only, which weigh nothing, the plain mean.
constexpr float predict_target(const Neighbours& neighbours, const float* point_targets) {
    double sum = 0, plain_sum = 0, weights = 0;
    std::int64_t votes = 0;
    for (std::int64_t j = 0; j < neighbours.k; ++j) {
        if (!neighbours.votes(j)) continue;
        const double target = static_cast<double>(point_targets[neighbours.index(j)]);
        const double weight = neighbours.weight(j);
        if (weight > 0) sum += weight * target;
        plain_sum += target;
        weights += weight;
        ++votes;
    }
    if (votes == 0) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(weights > 0 ? sum / weights : plain_sum / static_cast<double>(votes));
}

/// The predictions, whichever kind: 4 bytes each.
inline std::byte* predictions_of(const Buffers& buffers) {
    return buffers.classes ? reinterpret_cast<std::byte*>(buffers.classes)
                           : reinterpret_cast<std::byte*>(buffers.targets);
}
constexpr std::size_t prediction_bytes(std::int64_t queries) { return static_cast<std::size_t>(queries) * 4; }

/// Predicts for one query of a chunk that begins at query `first`, and hands out its neighbours if wanted.
constexpr void vote(const Problem& problem, const Buffers& buffers, const Neighbours& neighbours, std::int64_t first) {
    const std::int64_t query = first + neighbours.row;
    if (buffers.classes) buffers.classes[query] = predict_class(neighbours, buffers.point_classes);
    if (buffers.targets) buffers.targets[query] = predict_target(neighbours, buffers.point_targets);
    for (std::int64_t j = 0; j < problem.k; ++j) {
        if (buffers.neighbour_distances)
            buffers.neighbour_distances[j * problem.queries + query] = neighbours.distance(j);
        if (buffers.neighbour_indices) buffers.neighbour_indices[j * problem.queries + query] = neighbours.index(j);
    }
}

}  // namespace espalier::knn
