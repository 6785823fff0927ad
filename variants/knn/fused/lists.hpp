#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "variants/smallest_k/order.hpp"

/// The nearest points so far of some queries, for the fused pipelines: each query has a list of entries and a limit,
/// and a tile's values are compared with the limits while they are in registers. A list that is full is cut back to
/// its k best, and only then does its limit move.
namespace espalier::knn::fused {

using smallest_k::entry_of;
using smallest_k::index_of_entry;
using smallest_k::key_of;
using smallest_k::key_of_entry;
using smallest_k::value_of;

/// A cut takes time by the length of the list, so that a list of k grows by about as much in between.
constexpr std::int64_t list_capacity(std::int64_t k) { return k + std::max<std::int64_t>(k, 16); }

/// Limits are read by whole panels of queries, which have at most so many.
inline constexpr std::int64_t kMostQueriesAtOnce = 16;

class Lists {
public:
    Lists(std::int64_t queries, std::int64_t k)
        : k_(static_cast<std::size_t>(k)),
          capacity_(static_cast<std::size_t>(list_capacity(k))),
          limits_(static_cast<std::size_t>(queries + kMostQueriesAtOnce), std::numeric_limits<float>::quiet_NaN()),
          counts_(static_cast<std::size_t>(queries), 0),
          entries_(std::make_unique_for_overwrite<std::uint64_t[]>(static_cast<std::size_t>(queries) * capacity_)) {}

    /// What is at or beyond a query's limit is none of its nearest; NaN as long as everything may be.
    [[nodiscard]] const float* limits() const { return limits_.data(); }

    [[nodiscard]] std::span<std::uint64_t> entries(std::size_t i) {
        return {entries_.get() + i * capacity_, counts_[i]};
    }

protected:
    /// True if the list is full now.
    bool append(std::size_t i, std::uint64_t entry) {
        entries_[i * capacity_ + counts_[i]++] = entry;
        return counts_[i] == capacity_;
    }

    /// Brings the k least to the front; the last of them.
    std::uint64_t part(std::size_t i) {
        const auto all = entries(i);
        const auto last = all.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
        std::nth_element(all.begin(), last, all.end());
        return *last;
    }

    std::size_t k_, capacity_;
    std::vector<float> limits_;
    std::vector<std::size_t> counts_;
    std::unique_ptr<std::uint64_t[]> entries_;
};

/// The least value with this square root.
inline float least_square(float root) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (!(root > 0 && root < kInfinity)) return root;
    float value = root * root;
    while (std::sqrt(value) < root) value = std::nextafter(value, kInfinity);
    while (std::sqrt(std::nextafter(value, 0.0F)) >= root) value = std::nextafter(value, 0.0F);
    return value;
}

/// For tiles of distances, or of their squares. Points come by ascending index, so that one as far as the k-th of
/// those before is too late.
class ExactLists : public Lists {
public:
    ExactLists(std::int64_t queries, std::int64_t k, bool squares) : Lists(queries, k), squares_(squares) {}

    void offer(std::size_t i, float value, std::int64_t point) {
        const float distance = squares_ ? std::sqrt(value) : value;
        if (append(i, entry_of(key_of(distance), static_cast<std::uint32_t>(point)))) cut(i);
    }

    /// Leaves the k nearest, in no order.
    void finish(std::size_t i) {
        if (counts_[i] > k_) cut(i);
    }

private:
    void cut(std::size_t i) {
        const float distance = value_of(key_of_entry(part(i)));
        limits_[i] = squares_ ? least_square(distance) : distance;
        counts_[i] = k_;
    }

    bool squares_;
};

}  // namespace espalier::knn::fused
