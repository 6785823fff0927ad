#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "variants/knn/few_lists.cuh"
#include "variants/knn/vote.hpp"

/// The vote of one query's neighbours by a warp. Thread by thread it would wait for k reads of classes from anywhere in
/// device memory, one after the other, and once more for each class.
namespace espalier::knn::few {
namespace {

/// In shared memory: the neighbours' places in their list stand for their points.
struct VoteSpace {
    double weights[kLongestList];  ///< negative of those that have no say
    float distances[kLongestList], targets[kLongestList];
    std::int32_t places[kLongestList], classes[kLongestList];
};

/// The class with the largest weight, the smallest one at a tie: weights are added up in the order of the list, as
/// `predict_class` does.
__device__ inline std::int32_t heaviest_class(const VoteSpace& space, int k, unsigned lane) {
    std::int32_t best = kNoClass;
    double best_weight = -1;
    const auto offer = [&](std::int32_t other, double weight) {
        if (weight > best_weight || (weight == best_weight && other < best)) best = other, best_weight = weight;
    };
    for (int j = static_cast<int>(lane); j < k; j += kLanes) {
        if (space.weights[j] < 0) continue;
        double weight = 0;
        for (int i = 0; i < k; ++i)
            if (space.classes[i] == space.classes[j] && space.weights[i] >= 0) weight += space.weights[i];
        offer(space.classes[j], weight);
    }
    for (int stride = kLanes / 2; stride > 0; stride /= 2) {
        const std::int32_t other = __shfl_xor_sync(kAll, best, stride);
        const double weight = __shfl_xor_sync(kAll, best_weight, stride);
        offer(other, weight);
    }
    return best;
}

/// Hands out the neighbours of a query, if wanted, and its prediction.
__device__ inline void vote_by_warp(const Problem& problem, const Buffers& buffers, const std::uint64_t* list,
                                    VoteSpace& space, std::int64_t query, unsigned lane) {
    const int k = static_cast<int>(problem.k);
    for (int j = static_cast<int>(lane); j < k; j += kLanes) {
        const float distance = value_of(key_of_entry(list[j]));
        const std::int32_t point = index_of_entry(list[j]);
        const bool is_there = point != kNoIndex;
        space.distances[j] = distance;
        space.places[j] = is_there ? j : kNoIndex;
        if (buffers.classes) space.classes[j] = is_there ? buffers.point_classes[point] : kNoClass;
        if (buffers.targets) space.targets[j] = is_there ? buffers.point_targets[point] : 0.0F;
        if (buffers.neighbour_distances) buffers.neighbour_distances[j * problem.queries + query] = distance;
        if (buffers.neighbour_indices) buffers.neighbour_indices[j * problem.queries + query] = point;
    }
    __syncwarp();
    const Neighbours neighbours{space.distances, space.places, 1, 0, problem.k, problem.vote};
    if (buffers.classes) {
        for (int j = static_cast<int>(lane); j < k; j += kLanes)
            space.weights[j] = neighbours.votes(j) ? neighbours.weight(j) : -1;
        __syncwarp();
        const std::int32_t best = heaviest_class(space, k, lane);
        if (lane == 0) buffers.classes[query] = best;
    }
    if (buffers.targets && lane == 0) buffers.targets[query] = predict_target(neighbours, space.targets);
    __syncwarp();
}

}  // namespace
}  // namespace espalier::knn::few
