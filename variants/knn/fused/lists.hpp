#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "variants/smallest_k/key_bound.hpp"
#include "variants/smallest_k/order.hpp"

/// The nearest points so far of some queries, for the fused pipelines: each query has a list of points and a limit,
/// and a tile's values are compared with the limits while they are in registers. A list that is full is cut back to
/// little more than its k best, and only then does its limit move.
namespace espalier::knn::fused {

/// Nothing here is negative, so that a value's bits are a number of the same order. NaN comes after all others.
inline std::int32_t list_key(float value) {
    return value == value ? std::bit_cast<std::int32_t>(value) : std::numeric_limits<std::int32_t>::max();
}
inline float value_of(std::int32_t key) { return std::bit_cast<float>(key); }

/// Keys are compared so many at a time.
inline constexpr std::int64_t kKeysAtOnce = 16;

/// A cut takes time by the length of the list, so that a list of k grows by at least as much in between.
constexpr std::int64_t list_capacity(std::int64_t k) {
    const std::int64_t least = k + std::max<std::int64_t>(k, 16);
    return (least + kKeysAtOnce - 1) / kKeysAtOnce * kKeysAtOnce;
}

using smallest_k::bound_of;

/// Limits are read by whole panels of queries, which have at most so many.
inline constexpr std::int64_t kMostQueriesAtOnce = 32;

/// `Kernel` counts keys (terms.hpp).
template <class Kernel>
class Lists {
public:
    Lists(std::int64_t queries, std::int64_t k)
        : k_(static_cast<std::size_t>(k)),
          capacity_(static_cast<std::size_t>(list_capacity(k * Kernel::kCandidates))),
          limits_(static_cast<std::size_t>(queries + kMostQueriesAtOnce), std::numeric_limits<float>::quiet_NaN()),
          counts_(static_cast<std::size_t>(queries), 0),
          keys_(std::make_unique_for_overwrite<std::int32_t[]>(static_cast<std::size_t>(queries) * capacity_)),
          points_(std::make_unique_for_overwrite<std::int32_t[]>(static_cast<std::size_t>(queries) * capacity_)) {}

    /// What is at or beyond a query's limit is none of its nearest; NaN as long as everything may be.
    [[nodiscard]] const float* limits() const { return limits_.data(); }

    /// After `finish`: distances and points as smallest_k's entries, in no order.
    void entries(std::size_t i, std::vector<std::uint64_t>& to) const {
        for (std::size_t j = i * capacity_; j < i * capacity_ + counts_[i]; ++j)
            to.push_back(
                smallest_k::entry_of(smallest_k::key_of(value_of(keys_[j])), static_cast<std::uint32_t>(points_[j])));
    }

protected:
    /// True if the list is full now.
    bool append(std::size_t i, std::int32_t key, std::int64_t point) {
        const std::size_t at = i * capacity_ + counts_[i]++;
        keys_[at] = key;
        points_[at] = static_cast<std::int32_t>(point);
        return counts_[i] == capacity_;
    }

    /// Of a full list: a key that at least k are at most, and few more.
    [[nodiscard]] std::int32_t bound(std::size_t i) const {
        return Kernel::bound(keys_.get() + i * capacity_, capacity_, static_cast<std::int32_t>(k_),
                             static_cast<std::int32_t>(k_ + (capacity_ / Kernel::kCandidates - k_) / 8));
    }

    /// Keeps the entries that `wanted(key, point)` says, in their order.
    template <class Wanted>
    void keep(std::size_t i, Wanted wanted) {
        std::int32_t* keys = keys_.get() + i * capacity_;
        std::int32_t* points = points_.get() + i * capacity_;
        std::size_t kept = 0;
        for (std::size_t j = 0; j < counts_[i]; ++j) {
            const bool stays = wanted(keys[j], points[j]);
            keys[kept] = keys[j];
            points[kept] = points[j];
            kept += stays ? 1 : 0;
        }
        counts_[i] = kept;
    }

    std::size_t k_, capacity_;
    std::vector<float> limits_;
    std::vector<std::size_t> counts_;
    std::unique_ptr<std::int32_t[]> keys_, points_;
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

/// For tiles of distances, or of their squares. Points come by ascending index, so that one as far as k of those
/// before is too late.
template <class Kernel>
class ExactLists : public Lists<Kernel> {
public:
    ExactLists(std::int64_t queries, std::int64_t k, bool squares) : Lists<Kernel>(queries, k), squares_(squares) {}

    void offer(std::size_t i, float value, std::int64_t point) {
        if (this->append(i, list_key(squares_ ? std::sqrt(value) : value), point)) cut(i);
    }

    void finish(std::size_t) {}

private:
    [[gnu::noinline]] void cut(std::size_t i) {
        const std::int32_t bound = this->bound(i);
        const float distance = value_of(bound);
        this->limits_[i] = squares_ ? least_square(distance) : distance;
        // Of those at the bound no more than complete the k: the first ones.
        std::size_t nearer = 0;
        this->keep(i, [&](std::int32_t key, std::int32_t) { return nearer += key < bound ? 1 : 0, key <= bound; });
        std::size_t ties = std::max(this->k_, nearer) - nearer;
        this->keep(i, [&](std::int32_t key, std::int32_t) { return key < bound || ties-- > 0; });
    }

    bool squares_;
};

}  // namespace espalier::knn::fused
