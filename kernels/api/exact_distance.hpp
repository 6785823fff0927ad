#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "espalier/distance.hpp"

/// Distances in double precision, as distance.hpp and exact_knn.hpp define them.
namespace espalier::exact {

/// The metric of two items: one that devices know, or one that only doubles have.
enum class Comparison { euclidean, mixed_euclidean, manhattan, chebyshev, cosine, minkowski, haversine, hamming };

/// Two items, attribute by attribute. Those compared by cosine are at unit length already, or zero; angles are in
/// radians, latitude first.
struct Pair {
    const double* x;
    const double* y;
    std::int64_t dims;
    const AttributeType* types;  ///< for mixed_euclidean only
    const double* weights;       ///< what unequal values count: squared for mixed_euclidean, as they are for hamming
    double p = 2;                ///< for minkowski only
    double limit = HUGE_VAL;     ///< a distance that is surely larger may be given as infinite
};

/// Half of a squared distance at unit length that rounding alone can make of parallel items.
inline double parallel(std::int64_t dims) { return static_cast<double>(dims + 8) * 0x1p-102; }

inline double cosine_of_square(double square, std::int64_t dims) {
    const double distance = square / 2;
    return distance <= parallel(dims) ? 0 : distance;
}

/// base^p, for whole p the product that it stands for.
inline double power(double base, double p) {
    constexpr int kMostFactors = 16;
    if (p != std::floor(p) || p > kMostFactors) return std::pow(base, p);
    double product = base;
    for (int i = 1; i < static_cast<int>(p); ++i) product *= base;
    return product;
}

/// (sum of |x - y|^p)^(1/p). With the attributes that both have, of which the sum is scaled up to all of them.
inline double minkowski(const Pair& pair, bool missing) {
    constexpr std::int64_t kBetweenLooks = 8;
    const double most = power(pair.limit, pair.p) * (1 + 0x1p-40);  // of a sum that is not surely too large
    double sum = 0;
    std::int64_t present = 0;
    for (std::int64_t a = 0; a < pair.dims;) {
        for (const std::int64_t end = std::min(pair.dims, a + kBetweenLooks); a < end; ++a) {
            const double difference = std::fabs(pair.x[a] - pair.y[a]);
            if (missing && (std::isnan(pair.x[a]) || std::isnan(pair.y[a]))) continue;
            ++present;
            sum += power(difference, pair.p);
        }
        if (sum > most) return HUGE_VAL;  // and what is to come only adds
    }
    if (missing && present == 0) return std::numeric_limits<double>::quiet_NaN();
    if (missing && present < pair.dims) sum *= static_cast<double>(pair.dims) / static_cast<double>(present);
    return std::pow(sum, 1 / pair.p);
}

/// The central angle of two places in radians. NaN if a coordinate is missing.
inline double haversine(const Pair& pair) {
    const double of_latitude = std::sin((pair.x[0] - pair.y[0]) / 2),
                 of_longitude = std::sin((pair.x[1] - pair.y[1]) / 2);
    const double square =
        of_latitude * of_latitude + std::cos(pair.x[0]) * std::cos(pair.y[0]) * of_longitude * of_longitude;
    return 2 * std::asin(std::sqrt(square > 1 ? 1 : square));
}

/// The share of the attributes in which the items differ, each counted by its weight.
inline double hamming(const Pair& pair, bool missing) {
    double different = 0, all = 0;
    for (std::int64_t a = 0; a < pair.dims; ++a) {
        if (missing && (std::isnan(pair.x[a]) || std::isnan(pair.y[a]))) continue;
        all += pair.weights[a];
        different += pair.x[a] == pair.y[a] ? 0 : pair.weights[a];
    }
    if (all == 0) return missing ? std::numeric_limits<double>::quiet_NaN() : 0;
    return different / all;
}

/// The distance of items that share all attributes.
template <Comparison metric>
double distance_of(const Pair& pair) {
    if constexpr (metric == Comparison::minkowski) return minkowski(pair, false);
    if constexpr (metric == Comparison::haversine) return haversine(pair);
    if constexpr (metric == Comparison::hamming) return hamming(pair, false);
    const double *const x = pair.x, *const y = pair.y, *const weights = pair.weights;
    const AttributeType* const types = pair.types;
    const std::int64_t dims = pair.dims;
    double sum = 0;
    if constexpr (metric == Comparison::chebyshev) {
        for (std::int64_t a = 0; a < dims; ++a) {
            const double term = std::fabs(x[a] - y[a]);
            sum = ((term > sum) | std::isnan(term)) ? term : sum;  // not fmax, which would drop a NaN
        }
        return sum;
    } else if constexpr (metric == Comparison::cosine) {
        double norm_x = 0, norm_y = 0;
#pragma omp simd reduction(+ : sum, norm_x, norm_y)
        for (std::int64_t a = 0; a < dims; ++a) {
            sum += (x[a] - y[a]) * (x[a] - y[a]);
            norm_x += x[a] * x[a];
            norm_y += y[a] * y[a];
        }
        return norm_x * norm_y == 0 ? 1 : cosine_of_square(sum, dims);  // about 1, 0 or NaN each
    } else {
#pragma omp simd reduction(+ : sum)
        for (std::int64_t a = 0; a < dims; ++a) {
            const double difference = x[a] - y[a];
            if constexpr (metric == Comparison::manhattan)
                sum += std::fabs(difference);
            else if constexpr (metric == Comparison::mixed_euclidean)
                sum += types[a] == AttributeType::nominal ? (x[a] == y[a] ? 0.0 : weights[a] * weights[a])
                                                          : difference * difference;
            else
                sum += difference * difference;
        }
        return metric == Comparison::manhattan ? sum : std::sqrt(sum);
    }
}

/// The cosine of the attributes that both have: their own lengths differ from pair to pair.
inline double common_cosine(const Pair& pair) {
    const double *const x = pair.x, *const y = pair.y;
    const std::int64_t dims = pair.dims;
    double norm_x = 0, norm_y = 0, square = 0;
    bool common = false;
    const auto each = [&](auto add) {
        for (std::int64_t a = 0; a < dims; ++a)
            if (!std::isnan(x[a]) && !std::isnan(y[a])) add(x[a], y[a]);
    };
    each([&](double p, double q) {
        common = true;
        norm_x += p * p;
        norm_y += q * q;
    });
    if (!common) return std::numeric_limits<double>::quiet_NaN();
    if (norm_x == 0 || norm_y == 0) return 1;
    norm_x = std::sqrt(norm_x);
    norm_y = std::sqrt(norm_y);
    each([&](double p, double q) { square += (p / norm_x - q / norm_y) * (p / norm_x - q / norm_y); });
    return cosine_of_square(square, dims);
}

/// The distance of items with missing cells.
template <Comparison metric>
double common_distance(const Pair& pair) {
    if constexpr (metric == Comparison::cosine) return common_cosine(pair);
    if constexpr (metric == Comparison::minkowski) return minkowski(pair, true);
    if constexpr (metric == Comparison::haversine) return haversine(pair);
    if constexpr (metric == Comparison::hamming) return hamming(pair, true);
    const double *const x = pair.x, *const y = pair.y;
    const std::int64_t dims = pair.dims;
    double sum = 0;
    std::int64_t present = 0;
    for (std::int64_t a = 0; a < dims; ++a) {
        if (std::isnan(x[a]) || std::isnan(y[a])) continue;
        ++present;
        const double difference = x[a] - y[a];
        if constexpr (metric == Comparison::chebyshev)
            sum = ((std::fabs(difference) > sum) | std::isnan(difference)) ? std::fabs(difference) : sum;
        else if constexpr (metric == Comparison::manhattan)
            sum += std::fabs(difference);
        else if (metric == Comparison::mixed_euclidean && pair.types[a] == AttributeType::nominal)
            sum += x[a] == y[a] ? 0 : pair.weights[a] * pair.weights[a];
        else
            sum += difference * difference;
    }
    if (present == 0) return std::numeric_limits<double>::quiet_NaN();
    if constexpr (metric == Comparison::chebyshev) return sum;
    if (present < dims) sum *= static_cast<double>(dims) / static_cast<double>(present);
    return metric == Comparison::manhattan ? sum : std::sqrt(sum);
}

using Distance = double (*)(const Pair&);

/// One function for all pairs of a query, so that equal items are at equal distances to the last bit.
inline Distance distance_function(Comparison comparison, bool missing) {
    const auto of = [missing](auto m) -> Distance { return missing ? common_distance<m()> : distance_of<m()>; };
    using C = Comparison;
    switch (comparison) {
        case C::euclidean: return of(std::integral_constant<C, C::euclidean>{});
        case C::mixed_euclidean: return of(std::integral_constant<C, C::mixed_euclidean>{});
        case C::manhattan: return of(std::integral_constant<C, C::manhattan>{});
        case C::chebyshev: return of(std::integral_constant<C, C::chebyshev>{});
        case C::minkowski: return of(std::integral_constant<C, C::minkowski>{});
        case C::haversine: return of(std::integral_constant<C, C::haversine>{});
        case C::hamming: return of(std::integral_constant<C, C::hamming>{});
        case C::cosine: break;
    }
    return of(std::integral_constant<C, C::cosine>{});
}

}  // namespace espalier::exact
