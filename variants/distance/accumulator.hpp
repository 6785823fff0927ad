#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "kernels/core/variant.hpp"
#include "kernels/problems/distance.hpp"

namespace espalier::distance {

/// One distance in the making: the terms of its attributes are added one by one. The metric and the
/// check for missing values are compiled in or out (source K measures what the check costs: K7, K8).
/// Starts as `Accumulator{}`; trivial, so that shared memory can hold it.
template <Metric metric, Missing missing>
class Accumulator {
public:
    constexpr void add(float x, float y, [[maybe_unused]] AttributeType type = AttributeType::numeric) {
        if constexpr (missing == Missing::allowed) {
            // x == x is false for NaN only. A pair of zeros adds nothing, whatever the metric. Masked, not
            // selected: the compiler would make a branch of it, which is not vectorised.
            const std::uint32_t present = (x == x) & (y == y);
            x = masked(x, present);
            y = masked(y, present);
            present_ += static_cast<std::int32_t>(present);
        }
        if constexpr (metric == Metric::cosine) {
            sum_ += x * y;
            query_norm_ += x * x;
            point_norm_ += y * y;
        } else if constexpr (metric == Metric::chebyshev) {
            sum_ = larger(sum_, std::fabs(x - y));
        } else {
            sum_ += term(x, y, type);
        }
    }

    /// Adds the terms that another one has seen.
    constexpr void merge(const Accumulator& other) {
        sum_ = metric == Metric::chebyshev ? larger(sum_, other.sum_) : sum_ + other.sum_;
        if constexpr (metric == Metric::cosine) {
            query_norm_ += other.query_norm_;
            point_norm_ += other.point_norm_;
        }
        if constexpr (missing == Missing::allowed) present_ += other.present_;
    }

    [[nodiscard]] constexpr float result([[maybe_unused]] std::int64_t dims) const {
        float sum = sum_;
        if constexpr (missing == Missing::allowed) {
            if (present_ == 0) return std::numeric_limits<float>::quiet_NaN();
            if constexpr (metric != Metric::chebyshev && metric != Metric::cosine)
                sum *= static_cast<float>(dims) / static_cast<float>(present_);
        }
        if constexpr (metric == Metric::cosine) {
            // The product of the squares would overflow where the product of the roots does not.
            const float norm = std::sqrt(query_norm_) * std::sqrt(point_norm_);
            const float distance = norm == 0 ? 1.0F : 1.0F - sum / norm;
            return distance < 0 ? 0.0F : distance;
        }
        if constexpr (metric == Metric::euclidean || metric == Metric::mixed_euclidean) return std::sqrt(sum);
        return sum;
    }

private:
    template <Metric, Missing, std::size_t>
    friend class AccumulatorRow;

    /// `value`, or 0 if `keep` is 0 instead of 1.
    static constexpr float masked(float value, std::uint32_t keep) {
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & (0U - keep));
    }

    /// Not fmax, which would drop a NaN.
    static constexpr float larger(float a, float b) { return (b > a) | (b != b) ? b : a; }

    static constexpr float term(float x, float y, [[maybe_unused]] AttributeType type) {
        const float difference = x - y;
        if constexpr (metric == Metric::manhattan) return std::fabs(difference);
        const float square = difference * difference;
        if constexpr (metric == Metric::mixed_euclidean)
            return type == AttributeType::nominal ? (x == y ? 0.0F : 1.0F) : square;
        return square;
    }

    /// A member that a metric does without: no space, so that an array of plain sums is an array of
    /// floats. (Two members of one empty type would need two addresses, hence the tag.)
    template <int tag>
    struct None {};
    template <bool needed, class T, int tag>
    using If = std::conditional_t<needed, T, None<tag>>;

    float sum_;
    [[no_unique_address]] If<metric == Metric::cosine, float, 0> query_norm_;
    [[no_unique_address]] If<metric == Metric::cosine, float, 1> point_norm_;
    [[no_unique_address]] If<missing == Missing::allowed, std::int32_t, 2> present_;
};

/// Up to `n` accumulators side by side, each of their sums in an array of its own, so that loops over
/// them vectorise.
template <Metric metric, Missing missing, std::size_t n>
class AccumulatorRow {
public:
    /// Starts the first `count` again.
    void clear(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) store(i, {});
    }
    void add(std::size_t i, float x, float y, AttributeType type = AttributeType::numeric) {
        Accumulator<metric, missing> one = load(i);
        one.add(x, y, type);
        store(i, one);
    }
    [[nodiscard]] float result(std::size_t i, std::int64_t dims) const { return load(i).result(dims); }

private:
    using One = Accumulator<metric, missing>;

    [[nodiscard]] One load(std::size_t i) const {
        One one;
        one.sum_ = sums_[i];
        if constexpr (metric == Metric::cosine) {
            one.query_norm_ = query_norms_[i];
            one.point_norm_ = point_norms_[i];
        }
        if constexpr (missing == Missing::allowed) one.present_ = present_[i];
        return one;
    }
    void store(std::size_t i, const One& one) {
        sums_[i] = one.sum_;
        if constexpr (metric == Metric::cosine) {
            query_norms_[i] = one.query_norm_;
            point_norms_[i] = one.point_norm_;
        }
        if constexpr (missing == Missing::allowed) present_[i] = one.present_;
    }

    static constexpr std::size_t kNorms = metric == Metric::cosine ? n : 0;
    alignas(64) std::array<float, n> sums_;
    alignas(64) std::array<float, kNorms> query_norms_, point_norms_;
    alignas(64) std::array<std::int32_t, missing == Missing::allowed ? n : 0> present_;
};

/// Calls `function(metric, missing)` with the problem's choices as compile-time constants.
template <class Function>
void with_metric(const Problem& problem, Function&& function) {
    const auto with = [&](auto metric) {
        if (problem.missing == Missing::allowed)
            function(metric, std::integral_constant<Missing, Missing::allowed>{});
        else
            function(metric, std::integral_constant<Missing, Missing::none>{});
    };
    switch (problem.metric) {
        case Metric::euclidean: return with(std::integral_constant<Metric, Metric::euclidean>{});
        case Metric::mixed_euclidean: return with(std::integral_constant<Metric, Metric::mixed_euclidean>{});
        case Metric::manhattan: return with(std::integral_constant<Metric, Metric::manhattan>{});
        case Metric::chebyshev: return with(std::integral_constant<Metric, Metric::chebyshev>{});
        case Metric::cosine: return with(std::integral_constant<Metric, Metric::cosine>{});
    }
    throw std::invalid_argument("unknown distance metric");
}

/// The tolerance of every variant that sums the terms one by one. The family's check multiplies the unit
/// roundoff by the number of roundings to expect.
inline constexpr Tolerance kDirectSum{
    .absolute = 1e-18,
    .relative = 0x1p-24,
    .reason = "single-precision sum: unit roundoff per expected rounding; squares below 1e-38 underflow"};

}  // namespace espalier::distance
