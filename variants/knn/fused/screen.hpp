#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/problems/knn.hpp"
#include "variants/knn/fused/cosine.hpp"
#include "variants/knn/fused/lists.hpp"
#include "variants/knn/fused/terms.hpp"

/// Euclidean distances by expanded squares: |x|^2 + |y|^2 - 2xy takes one multiply-add per attribute where
/// (x - y)^2 takes a subtraction more, but what is left after the subtraction of large squares is not a distance that
/// anybody should see. So it only says which points cannot be among the k nearest; the others are compared directly.
/// Cosine distances are half the squares of those of items at unit length. docs/performance/knn-cpu.md derives the
/// bounds.
namespace espalier::knn::fused {

/// With x and y the centred items, s the square that the direct form gives, v the value of a tile:
///   v + (1 - spread) x^2 <= d^2 <= v + (1 - spread) x^2 + 2 spread (x^2 + y^2) + smallest
///   s = d^2 within a relative `direct` and `off`, if nothing underflows
/// For the cosine distance x and y are at unit length and d^2 is 2 - 2xy, also where one has no length.
struct ScreenBound {
    double spread;    ///< of the squares of the items' norms
    double direct;    ///< of the square of the distance
    double off;       ///< beside it
    double smallest;  ///< what underflow may take

    /// `roundings` and `underflow` are those of the tiles.
    ScreenBound(Metric metric, std::int64_t dims, std::int64_t roundings, double underflow)
        : spread(static_cast<double>(roundings) * 0x1p-24 * 1.02),
          direct(metric == Metric::cosine ? 0 : static_cast<double>(dims + 4) * 0x1p-24 * 1.02),
          off(metric == Metric::cosine ? static_cast<double>(2 * dims + 16) * 0x1p-24 * 1.02 : 0),
          smallest(underflow) {}

    /// Of a point: what the sums of a tile start from.
    [[nodiscard]] float start(double square) const { return static_cast<float>((1 - spread) * square); }

    /// The largest lower bound that a point may have to be among the k nearest, if k points are as near as `upper`:
    /// direct sums may change the order of their squares, and roots of two neighbours may be one number.
    [[nodiscard]] double most(double upper) const { return upper * (1 + 2.1 * direct + 0x1p-21) + 2 * off + smallest; }

    /// Of the square, from that of the distance that the direct form gave.
    [[nodiscard]] double upper_of(double square) const { return square * (1 + 2 * direct + 0x1p-21) + off + smallest; }
};

/// With r and r' the norms of what rounding took from x and y, 2xy is off by 2 (|x| r' + |y| r + r r') at most, which
/// is no more than this of x and of y, from the squares of |x| and r. The ratio may be any, near r / |x| it is tight.
inline double rounding_error(double square, double residual) {
    constexpr double kRatio = 1.0 / 192;  // as of rows of hundreds of numbers
    return (kRatio * square + (1 / kRatio + 1) * residual) * 1.0001;
}

/// Squares up to here leave room for all sums in single precision; what is larger, or not finite, is not screened.
inline constexpr double kMostScreened = 0x1p120;
inline constexpr std::int64_t kMostScreenedDims = 1 << 16;

/// Where the direct form finds the points: value a of point p at [p * point_step + a * attribute_step].
struct PointRows {
    const float* values;
    std::int64_t point_step, attribute_step, dims;
};

/// The direct form of a distance, and the square that it is screened by.
struct EuclideanForm {
    static constexpr Terms kTerms = Terms::squares;

    [[nodiscard]] float distance(float sum, std::size_t, std::int32_t) const { return std::sqrt(sum); }
    static double square(float distance) { return static_cast<double>(distance) * static_cast<double>(distance); }
};

struct CosineForm {
    static constexpr Terms kTerms = Terms::dots;
    const float* query_lengths;
    const float* point_lengths;

    [[nodiscard]] float distance(float sum, std::size_t i, std::int32_t point) const {
        return cosine_distance(sum, query_lengths[i], point_lengths[point]);
    }
    static double square(float distance) { return 2 * static_cast<double>(distance); }
};

/// For tiles of expanded squares. A key is an upper bound of the square; `finish` makes it the distance.
template <class Kernel, class Form>
class ScreenedLists : public Lists<Kernel> {
public:
    /// `queries` lie side by side, `squares` are those of their norms after centring, `starts` those of the points.
    /// Where items are rounded, `errors` are the queries' and `spreads` what the points add to the spread.
    ScreenedLists(std::int64_t count, std::int64_t k, Form form, const ScreenBound& bound, const PointRows& points,
                  const float* queries, const double* squares, const float* starts,
                  [[maybe_unused]] const double* errors = nullptr, const float* spreads = nullptr)
        : Lists<Kernel>(count, k),
          form_(form),
          bound_(bound),
          point_rows_(points),
          queries_(queries),
          starts_(starts),
          start_spread_(static_cast<float>(2 * bound.spread / (1 - bound.spread))),
          spreads_(spreads),
          of_query_(static_cast<std::size_t>(count)) {
        for (std::size_t i = 0; i < of_query_.size(); ++i) {
            double least = (1 - bound.spread) * squares[i], spread = 2 * bound.spread * squares[i] + bound.smallest;
            if constexpr (Kernel::kRounds) least -= errors[i], spread += 2 * errors[i];
            of_query_[i] = {static_cast<float>(least), static_cast<float>(spread)};
        }
    }

    void offer(std::size_t i, float value, std::int64_t point) {
        const float upper = value + of_query_[i].least + spread(i, point);
        if (this->append(i, list_key(std::max(upper, 0.0F)), point)) cut(i);  // keys are of what is not negative
    }

    /// Leaves the nearest, with their distances.
    void finish(std::size_t i) {
        drop_at_end(i);
        compare(i);
    }

    /// How many points were compared directly before it was known which ones had to be.
    [[nodiscard]] std::int64_t in_vain() const { return in_vain_; }

private:
    struct OfQuery {
        float least, spread;
    };

    /// How far apart the two bounds are.
    [[nodiscard]] float spread(std::size_t i, std::int64_t point) const {
        if constexpr (Kernel::kRounds) return of_query_[i].spread + spreads_[point];
        return of_query_[i].spread + starts_[point] * start_spread_;
    }

    [[gnu::noinline]] void cut(std::size_t i) {
        drop_beyond(i, this->bound(i));
        if (2 * (this->counts_[i] - this->k_) > this->capacity_ - this->k_) settle(i);
    }

    /// `upper`: the key of an upper bound of at least k squares. Drops what cannot be among the k nearest.
    void drop_beyond(std::size_t i, std::int32_t upper) {
        const double most = bound_.most(static_cast<double>(value_of(upper)));
        limit(i, most);
        const auto most_lower = static_cast<float>(most * (1 + 0x1p-22));
        this->keep(
            i, [&](std::int32_t key, std::int32_t point) { return value_of(key) - spread(i, point) <= most_lower; });
    }

    void drop_at_end(std::size_t i) {
        if (this->counts_[i] <= this->k_) return;
        const auto wanted = static_cast<std::int32_t>(this->k_);
        drop_beyond(i, Kernel::bound(this->keys_.get() + i * this->capacity_, this->counts_[i], wanted, wanted));
    }

    /// Too many are within the bound: lets the direct form decide between them.
    void settle(std::size_t i) {
        in_vain_ += static_cast<std::int64_t>(this->counts_[i]);
        compare(i);
        std::vector<std::uint64_t> all;
        this->entries(i, all);
        const auto last = all.begin() + static_cast<std::ptrdiff_t>(this->k_) - 1;
        std::ranges::nth_element(all, last);
        const auto [key, point] = std::pair(smallest_k::key_of_entry(*last), smallest_k::index_of_entry(*last));
        this->keep(i, [&key = key, &point = point](std::int32_t other, std::int32_t other_point) {
            return std::pair(smallest_k::key_of(value_of(other)), other_point) <= std::pair(key, point);
        });
        limit(i, bound_.most(upper_of(smallest_k::value_of(key))));
        std::int32_t* keys = this->keys_.get() + i * this->capacity_;
        for (std::size_t j = 0; j < this->counts_[i]; ++j)
            keys[j] = list_key(static_cast<float>(upper_of(value_of(keys[j]))));
    }

    [[nodiscard]] double upper_of(float distance) const { return bound_.upper_of(Form::square(distance)); }

    /// Rounded up, and beyond: what is at the limit is turned away.
    void limit(std::size_t i, double most) {
        const auto rounded = static_cast<float>(most - static_cast<double>(of_query_[i].least));
        this->limits_[i] = rounded + (std::fabs(rounded) * 0x1p-22F + 0x1p-140F);
    }

    /// Keys become those of distances by the direct form.
    void compare(std::size_t i) {
        std::int32_t* keys = this->keys_.get() + i * this->capacity_;
        const std::int32_t* points = this->points_.get() + i * this->capacity_;
        const std::size_t all = this->counts_[i];
        std::array<const float*, Kernel::kDirect> at;
        std::array<float, Kernel::kDirect> sums;
        for (std::size_t first = 0; first < all; first += at.size()) {
            const std::size_t count = std::min(at.size(), all - first);
            for (std::size_t j = 0; j < at.size(); ++j)
                at[j] = point_rows_.values + point_rows_.point_step * points[first + std::min(j, count - 1)];
            Kernel::template direct<Form::kTerms>(queries_ + static_cast<std::int64_t>(i) * point_rows_.dims, at.data(),
                                                  point_rows_.attribute_step, point_rows_.dims, sums.data());
            for (std::size_t j = 0; j < count; ++j)
                keys[first + j] = list_key(form_.distance(sums[j], i, points[first + j]));
        }
    }

    Form form_;
    ScreenBound bound_;
    PointRows point_rows_;
    const float* queries_;
    const float* starts_;
    float start_spread_;
    const float* spreads_;
    std::vector<OfQuery> of_query_;
    std::int64_t in_vain_ = 0;
};

}  // namespace espalier::knn::fused
