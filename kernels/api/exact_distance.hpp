#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "espalier/distance.hpp"

/// Distances in double precision, as distance.hpp defines them.
namespace espalier::exact {

/// Two items, attribute by attribute. Those compared by cosine are at unit length already, or zero.
struct Pair {
    const double* x;
    const double* y;
    std::int64_t dims;
    const AttributeType* types;  ///< for mixed_euclidean only
};

/// Half of a squared distance at unit length that rounding alone can make of parallel items.
inline double parallel(std::int64_t dims) { return static_cast<double>(dims + 8) * 0x1p-102; }

inline double cosine_of_square(double square, std::int64_t dims) {
    const double distance = square / 2;
    return distance <= parallel(dims) ? 0 : distance;
}

/// The distance of items that share all attributes.
template <Metric metric>
double distance_of(const Pair& pair) {
    const auto [x, y, dims, types] = pair;
    double sum = 0;
    if constexpr (metric == Metric::chebyshev) {
        for (std::int64_t a = 0; a < dims; ++a) {
            const double term = std::fabs(x[a] - y[a]);
            sum = (term > sum) | std::isnan(term) ? term : sum;  // not fmax, which would drop a NaN
        }
        return sum;
    } else if constexpr (metric == Metric::cosine) {
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
            if constexpr (metric == Metric::manhattan)
                sum += std::fabs(difference);
            else if constexpr (metric == Metric::mixed_euclidean)
                sum += types[a] == AttributeType::nominal ? (x[a] == y[a] ? 0.0 : 1.0) : difference * difference;
            else
                sum += difference * difference;
        }
        return metric == Metric::manhattan ? sum : std::sqrt(sum);
    }
}

/// The cosine of the attributes that both have: their own lengths differ from pair to pair.
inline double common_cosine(const Pair& pair) {
    const auto [x, y, dims, types] = pair;
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
template <Metric metric>
double common_distance(const Pair& pair) {
    if constexpr (metric == Metric::cosine) return common_cosine(pair);
    const auto [x, y, dims, types] = pair;
    double sum = 0;
    std::int64_t present = 0;
    for (std::int64_t a = 0; a < dims; ++a) {
        if (std::isnan(x[a]) || std::isnan(y[a])) continue;
        ++present;
        const double difference = x[a] - y[a];
        if constexpr (metric == Metric::chebyshev)
            sum = (std::fabs(difference) > sum) | std::isnan(difference) ? std::fabs(difference) : sum;
        else if constexpr (metric == Metric::manhattan)
            sum += std::fabs(difference);
        else if (metric == Metric::mixed_euclidean && types[a] == AttributeType::nominal)
            sum += x[a] == y[a] ? 0 : 1;
        else
            sum += difference * difference;
    }
    if (present == 0) return std::numeric_limits<double>::quiet_NaN();
    if constexpr (metric == Metric::chebyshev) return sum;
    if (present < dims) sum *= static_cast<double>(dims) / static_cast<double>(present);
    return metric == Metric::manhattan ? sum : std::sqrt(sum);
}

using Distance = double (*)(const Pair&);

/// One function for all pairs of a query, so that equal items are at equal distances to the last bit.
inline Distance distance_function(Metric metric, bool missing) {
    const auto of = [missing](auto m) -> Distance { return missing ? common_distance<m()> : distance_of<m()>; };
    switch (metric) {
        case Metric::euclidean: return of(std::integral_constant<Metric, Metric::euclidean>{});
        case Metric::mixed_euclidean: return of(std::integral_constant<Metric, Metric::mixed_euclidean>{});
        case Metric::manhattan: return of(std::integral_constant<Metric, Metric::manhattan>{});
        case Metric::chebyshev: return of(std::integral_constant<Metric, Metric::chebyshev>{});
        case Metric::cosine: break;
    }
    return of(std::integral_constant<Metric, Metric::cosine>{});
}

}  // namespace espalier::exact
