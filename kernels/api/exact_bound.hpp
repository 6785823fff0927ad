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
class Bound {
public:
    /// The bound of a query; `missing` as of its pairs.
    Bound(const Table& table, const double* query, bool missing)
        : metric_(table.metric()), dims_(table.points().dims), table_scale_(table.scale()) {
        const auto dims = static_cast<double>(table.float_dims());
        double length = 0;
        std::int64_t present = 0;
        for (std::int64_t a = 0; a < dims_; ++a) {
            if (std::isnan(query[a])) continue;
            ++present;
            if (table.is_nominal(a)) continue;
            const double c = std::fabs(table.centred(query, a));
            length = metric_ == Metric::chebyshev   ? std::max(length, c)
                     : metric_ == Metric::manhattan ? length + c
                                                    : std::hypot(length, c);
        }
        const auto common = static_cast<double>(std::max<std::int64_t>(1, present - table.most_missing()));
        double spread = 1;  // what scaling for missing cells multiplies a distance by, at most
        if (missing && metric_ == Metric::manhattan) spread = dims / common;
        if (missing && metric_ != Metric::manhattan) spread = std::sqrt(dims / common);
        const double roundings = (dims + 16) * kUnit;
        const double sum = roundings < 0.5 ? 1 / (1 - roundings) : HUGE_VAL;  // 1 + the usual bound, or nothing known
        factor_ = sum * (1 + kUnit);
        offset_ = spread * (2 * kUnit * length * sum + dims * 0x1p-60);
    }

    /// Whether a point whose distance in single precision is `last` or more is farther than one at `kth` in double.
    [[nodiscard]] bool excludes(float last, double kth) const {
        if (!std::isfinite(last)) return false;  // an overflow may hide anything
        const double least = (static_cast<double>(last) - offset_) / factor_;
        const double slack = 1 + static_cast<double>(dims_ + 16) * 0x1p-50;  // of both sums in double
        if (metric_ == Metric::cosine) return least > std::sqrt(2 * std::max(kth, parallel(dims_))) * slack;
        return least > kth * table_scale_ * slack;
    }

private:
    static constexpr double kUnit = 0x1p-24 * (1 + 0x1p-10);

    Metric metric_;
    std::int64_t dims_;
    double table_scale_, factor_ = 1, offset_ = 0;
};

}  // namespace espalier::exact
