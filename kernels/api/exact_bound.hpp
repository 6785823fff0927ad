#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/api/exact_distance.hpp"
#include "kernels/api/exact_table.hpp"

namespace espalier::exact {

/// How much nearer than its distance in single precision a point may be: everything that rounding can do to a distance
/// of one query. In the units of the table's floats.
///
/// A coordinate c becomes a float that is off by at most u |c|, u = 2^-24 and a little for the subtraction in double,
/// or by 2^-126 if it underflows. By the triangle inequality the distance is then off by u times the lengths of both
/// items, of which the point's is at most the query's and the distance together. A sum of so many terms in any
/// order, its root and the scaling for missing cells are off by less than a factor of 1 / (1 - (dims + 16) u), and
/// by what underflows when it is squared.
///
/// A huge coordinate (-9999 for "no data") would widen that for all points. But where no point comes near it without
/// being equal, their difference is either 0 or of its own size, and off by a factor like the sum itself: with a gap
/// of |c| / 8, by 1 + 17 u.
class Bound {
public:
    /// The bound of a query; `missing` as of its pairs.
    Bound(const Table& table, const double* query, bool missing) : table_(table) {
        const Comparison comparison = table.rule().comparison;
        const std::int64_t all = table.points().dims;
        const auto dims = static_cast<double>(table.float_dims());
        double length = 0;
        std::int64_t present = 0;
        for (std::int64_t a = 0; a < all; ++a) {
            if (std::isnan(query[a])) continue;
            ++present;
            if (table.is_nominal(a)) continue;
            const double c = table.centred(query, a);
            if (const double gap = table.gap(a, c); gap > 0 && gap >= std::fabs(c) / 8) continue;
            length = comparison == Comparison::chebyshev   ? std::max(length, std::fabs(c))
                     : comparison == Comparison::manhattan ? length + std::fabs(c)
                                                           : std::hypot(length, c);
        }
        const auto common = static_cast<double>(std::max<std::int64_t>(1, present - table.most_missing()));
        double spread = 1;  // what scaling for missing cells multiplies a distance by, at most
        if (missing && comparison == Comparison::manhattan) spread = dims / common;
        if (missing && comparison != Comparison::manhattan) spread = std::sqrt(dims / common);
        const double roundings = (dims + 16 + 17) * kUnit;
        const double sum = roundings < 0.5 ? 1 / (1 - roundings) : HUGE_VAL;  // 1 + the usual bound, or nothing known
        factor_ = sum * (1 + kUnit);
        offset_ = spread * (2 * kUnit * length * sum + dims * 0x1p-60);
    }

    /// Whether a point whose distance in single precision is `last` or more is farther than one at `kth` in double.
    [[nodiscard]] bool excludes(float last, double kth) const {
        if (!std::isfinite(last)) return false;  // an overflow may hide anything
        const std::int64_t dims = table_.points().dims;
        const double least = (static_cast<double>(last) - offset_) / factor_;
        const double slack = 1 + static_cast<double>(dims + 16) * 0x1p-50;  // of both sums in double
        switch (table_.rule().comparison) {
            case Comparison::cosine: return least > std::sqrt(2 * std::max(kth, parallel(dims))) * slack;
            case Comparison::hamming: return least > 0 && least * least > different(kth) * slack;
            default: return least > kth * table_.scale() * slack;
        }
    }

private:
    static constexpr double kUnit = 0x1p-24 * (1 + 0x1p-10);

    /// The attributes that differ, at most, at a share of `hamming`.
    [[nodiscard]] double different(double hamming) const {
        const auto [least, most] = std::ranges::minmax(table_.rule().weights);
        return hamming * static_cast<double>(table_.points().dims) * most / least;
    }

    const Table& table_;
    double factor_ = 1, offset_ = 0;
};

}  // namespace espalier::exact
