// For plans of nearest neighbours that measure: their queries, and how their results are compared.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/api/knn_call.hpp"

namespace espalier {
namespace {

template <class T>
std::vector<T> numbers_of(const std::vector<std::byte>& bytes) {
    std::vector<T> numbers(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
    return numbers;
}

/// The neighbours of one query in two results; the j-th is `stride` behind the one before.
struct TwoLists {
    const float *expected_distances, *actual_distances;
    const std::int32_t *expected, *actual;
    std::int64_t k, stride;

    /// An index in another place is one of the list in a distance as good as its own, or as good as the last one's.
    [[nodiscard]] bool has(std::int64_t j, double slack) const {
        const double distance = actual_distances[j * stride];
        for (std::int64_t other = 0; other < k; ++other)
            if (expected[other * stride] == actual[j * stride])
                return std::abs(expected_distances[other * stride] - distance) <= slack;
        return std::abs(expected_distances[(k - 1) * stride] - distance) <= slack;
    }

    /// Nothing if one of them is wrong, else whether both are the same lists.
    [[nodiscard]] std::optional<bool> same(double relative, double absolute) const {
        bool same = true;
        double largest = 0;
        for (std::int64_t j = 0; j < k; ++j)
            if (std::isfinite(expected_distances[j * stride]))
                largest = std::max(largest, std::abs(double{expected_distances[j * stride]}));
        const double slack = absolute + relative * largest;
        for (std::int64_t j = 0; j < k; ++j) {
            const double a = expected_distances[j * stride], b = actual_distances[j * stride];
            const bool equal = a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= slack;
            if (!equal) return std::nullopt;
            if (expected[j * stride] == actual[j * stride]) continue;
            if (!has(j, slack)) return std::nullopt;
            same = false;
        }
        return same;
    }
};

}  // namespace

bool KnnCall::fill(std::size_t array, std::span<std::byte> values) const {
    if (array != 0 || problem.points == 0) return false;
    const auto& resident = model->training->points;
    std::vector<float> copy;
    const float* points = resident.data();
    if (model->device.is_cuda()) {
        copy = resident.on_host();
        points = copy.data();
    }
    constexpr std::int64_t kStep = 7919;  // a prime: neither neighbours in the table nor the same ones all the time
    for (std::int64_t d = 0; d < problem.dims; ++d)
        for (std::int64_t q = 0; q < problem.queries; ++q)
            std::memcpy(values.data() + static_cast<std::size_t>(d * problem.queries + q) * sizeof(float),
                        points + d * problem.points + q % problem.points * kStep % problem.points, sizeof(float));
    return true;
}

bool KnnCall::agree(const TrialArrays&, const Outputs& expected, const Outputs& actual, const Slack& slack) const {
    const auto distances = numbers_of<float>(expected[2]), found_distances = numbers_of<float>(actual[2]);
    const auto indices = numbers_of<std::int32_t>(expected[3]), found_indices = numbers_of<std::int32_t>(actual[3]);
    const auto votes = numbers_of<std::int32_t>(expected[1]), found_votes = numbers_of<std::int32_t>(actual[1]);
    const auto targets = numbers_of<float>(expected[1]), found_targets = numbers_of<float>(actual[1]);
    const double relative = slack.relative * (8 + std::sqrt(static_cast<double>(problem.dims)));
    constexpr double kOfAVote = 1e-4;  // weights are quotients of distances
    std::int64_t moved = 0;
    for (std::int64_t q = 0; q < problem.queries; ++q) {
        const TwoLists lists{
            distances.data() + q, found_distances.data() + q, indices.data() + q, found_indices.data() + q, problem.k,
            problem.queries};
        const auto same = lists.same(relative, slack.absolute);
        if (!same) return false;
        const auto at = static_cast<std::size_t>(q);
        if (!*same)
            ++moved;
        else if (problem.task == Task::classification && votes[at] != found_votes[at])
            return false;
        else if (const double a = targets[at], b = found_targets[at]; problem.task == Task::regression && a != b &&
                                                                      !(std::isnan(a) && std::isnan(b)) &&
                                                                      !(std::abs(a - b) <= kOfAVote * std::abs(a)))
            return false;
    }
    return 2 * moved <= problem.queries;
}

}  // namespace espalier
