#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "variants/knn/fused/lists.hpp"

/// Euclidean distances by expanded squares: |x|^2 + |y|^2 - 2xy takes one multiply-add per attribute where
/// (x - y)^2 takes a subtraction more, but what is left after the subtraction of large squares is not a distance that
/// anybody should see. So it only says which points cannot be among the k nearest; the others are compared directly.
/// docs/performance/knn-cpu.md derives the bounds.
namespace espalier::knn::fused {

/// With x and y the centred items, s the direct sum that `direct` computes, v the value of a tile:
///   v + (1 - spread) x^2 <= d^2 <= v + (1 - spread) x^2 + 2 spread (x^2 + y^2) + smallest
///   s = d^2 within a relative `direct`, if nothing underflows
struct ScreenBound {
    double spread;    ///< of the squares of the items' norms
    double direct;    ///< of the square of the distance
    double smallest;  ///< what underflow may take

    explicit ScreenBound(std::int64_t dims)
        : spread(static_cast<double>(2 * dims + 64) * 0x1p-24 * 1.02),
          direct(static_cast<double>(dims + 4) * 0x1p-24 * 1.02),
          smallest(static_cast<double>(4 * dims + 64) * 0x1p-149) {}

    /// Of a point: what the sums of a tile start from.
    [[nodiscard]] float start(double square) const { return static_cast<float>((1 - spread) * square); }

    /// The largest lower bound that a point may have to be among the k nearest, if k points are as near as `upper`:
    /// direct sums may change the order of their squares, and roots of two neighbours may be one number.
    [[nodiscard]] double most(double upper) const {
        return upper * (1 + 2.1 * direct + 0x1p-21) + smallest;
    }
};

/// Squares up to here leave room for all sums in single precision; what is larger, or not finite, is not screened.
inline constexpr double kMostScreened = 0x1p120;
inline constexpr std::int64_t kMostScreenedDims = 1 << 16;

/// Where the direct form finds the points: value a of point p at [p * point_step + a * attribute_step].
struct PointRows {
    const float* values;
    std::int64_t point_step, attribute_step, dims;
};

/// For tiles of expanded squares. An entry is an upper bound of the square and the index; `finish` makes it what those
/// of ExactLists are.
template <class Kernel>
class ScreenedLists : public Lists {
public:
    /// `queries` lie side by side, `squares` are those of their norms after centring, `starts` those of the points.
    ScreenedLists(std::int64_t count, std::int64_t k, const ScreenBound& bound, const PointRows& points,
                  const float* queries, const double* squares, const float* starts)
        : Lists(count, k), bound_(bound), points_(points), queries_(queries), starts_(starts),
          start_spread_(static_cast<float>(2 * bound.spread / (1 - bound.spread))),
          of_query_(static_cast<std::size_t>(count)) {
        for (std::size_t i = 0; i < of_query_.size(); ++i)
            of_query_[i] = {static_cast<float>((1 - bound.spread) * squares[i]),
                            static_cast<float>(2 * bound.spread * squares[i] + bound.smallest)};
    }

    void offer(std::size_t i, float value, std::int64_t point) {
        const float upper = value + of_query_[i].least + spread(i, point);
        if (append(i, entry_of(key_of(upper), static_cast<std::uint32_t>(point)))) cut(i);
    }

    /// Leaves the k nearest with their distances, in no order.
    void finish(std::size_t i) {
        if (counts_[i] > k_) drop(i);
        compare(i);
        if (counts_[i] > k_) {
            part(i);
            counts_[i] = k_;
        }
    }

    /// How many points were compared directly before it was known which ones had to be.
    [[nodiscard]] std::int64_t in_vain() const { return in_vain_; }

private:
    struct OfQuery {
        float least, spread;
    };

    /// How far apart the two bounds are.
    [[nodiscard]] float spread(std::size_t i, std::int64_t point) const {
        return of_query_[i].spread + starts_[point] * start_spread_;
    }

    void cut(std::size_t i) {
        drop(i);
        if (2 * (counts_[i] - k_) > capacity_ - k_) settle(i);
    }

    /// Drops what cannot be among the k nearest.
    void drop(std::size_t i) {
        const double most = bound_.most(static_cast<double>(value_of(key_of_entry(part(i)))));
        limit(i, most);
        const auto all = entries(i);
        std::size_t kept = k_;
        for (std::size_t j = k_; j < all.size(); ++j) {
            const float upper = value_of(key_of_entry(all[j]));
            if (static_cast<double>(upper - spread(i, index_of_entry(all[j]))) <= most) all[kept++] = all[j];
        }
        counts_[i] = kept;
    }

    /// Too many are within the bound: lets the direct form decide between them.
    void settle(std::size_t i) {
        in_vain_ += static_cast<std::int64_t>(counts_[i]);
        compare(i);
        const auto upper = [&](std::uint64_t entry) {
            const auto distance = static_cast<double>(value_of(key_of_entry(entry)));
            return distance * distance * (1 + 2 * bound_.direct + 0x1p-21) + bound_.smallest;
        };
        limit(i, bound_.most(upper(part(i))));
        counts_[i] = k_;
        for (std::uint64_t& entry : entries(i))
            entry = entry_of(key_of(static_cast<float>(upper(entry))), static_cast<std::uint32_t>(entry));
    }

    void limit(std::size_t i, double most) {
        const auto rounded = static_cast<float>(most - static_cast<double>(of_query_[i].least));
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        limits_[i] = std::nextafter(std::nextafter(rounded, kInfinity), kInfinity);  // which is itself excluded
    }

    /// Entries become distances by the direct form.
    void compare(std::size_t i) {
        const auto all = entries(i);
        std::array<const float*, Kernel::kDirect> at;
        std::array<float, Kernel::kDirect> sums;
        for (std::size_t first = 0; first < all.size(); first += at.size()) {
            const std::size_t count = std::min(at.size(), all.size() - first);
            for (std::size_t j = 0; j < at.size(); ++j)
                at[j] = points_.values +
                        points_.point_step * index_of_entry(all[first + std::min(j, count - 1)]);
            Kernel::direct(queries_ + static_cast<std::int64_t>(i) * points_.dims, at.data(), points_.attribute_step,
                           points_.dims, sums.data());
            for (std::size_t j = 0; j < count; ++j)
                all[first + j] = entry_of(key_of(std::sqrt(sums[j])), static_cast<std::uint32_t>(all[first + j]));
        }
    }

    ScreenBound bound_;
    PointRows points_;
    const float* queries_;
    const float* starts_;
    float start_spread_;
    std::vector<OfQuery> of_query_;
    std::int64_t in_vain_ = 0;
};

}  // namespace espalier::knn::fused
