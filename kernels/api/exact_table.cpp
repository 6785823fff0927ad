#include "kernels/api/exact_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::exact {
namespace {

bool is_zero(const double* item, std::int64_t dims) {
    return std::all_of(item, item + dims, [](double value) { return value == 0; });
}

/// Brings the attributes that are there to length 1. Scaled first: squares neither overflow nor vanish.
void normalise(double* item, std::int64_t dims) {
    double largest = 0, sum = 0;
    for (std::int64_t a = 0; a < dims; ++a)
        if (std::isfinite(item[a])) largest = std::max(largest, std::fabs(item[a]));
    if (largest == 0) return;
    const int exponent = std::ilogb(largest);
    for (std::int64_t a = 0; a < dims; ++a) {
        item[a] = std::scalbn(item[a], -exponent);
        if (!std::isnan(item[a])) sum += item[a] * item[a];
    }
    const double length = std::sqrt(sum);
    for (std::int64_t a = 0; a < dims; ++a) item[a] /= length;
}

}  // namespace

Rows rows_of(const ItemsOfDoubles& items, Metric metric, std::int64_t first, std::int64_t count) {
    Rows rows{.values = {}, .count = count, .dims = items.dims};
    const bool by_item = items.layout == Layout::item_major;
    const std::int64_t stride = items.stride != 0 ? items.stride : by_item ? items.dims : items.count;
    const bool as_is = by_item && stride == items.dims;
    if (as_is && items.values)
        rows.values.assign(items.values + first * items.dims, items.values + (first + count) * items.dims);
    rows.values.resize(static_cast<std::size_t>(count * items.dims));
    bool missing = false;
#pragma omp parallel for schedule(static) reduction(|| : missing)
    for (std::int64_t i = 0; i < count; ++i) {
        double* const row = rows.values.data() + i * items.dims;
        for (std::int64_t a = 0; a < items.dims && !as_is; ++a)
            row[a] = items.values[by_item ? (first + i) * stride + a : a * stride + first + i];
        missing = missing || std::any_of(row, row + items.dims, [](double value) { return std::isnan(value); });
        if (metric == Metric::cosine) normalise(row, items.dims);
    }
    rows.missing = missing;
    return rows;
}

Table::Table(const ItemsOfDoubles& points, const DistanceRule& rule)
    : metric_(rule.metric),
      missing_rule_(rule.missing),
      points_(rows_of(points, rule.metric, 0, points.count)),
      centres_(index(points.dims)),
      ranks_(index(points.dims)) {
    if (metric_ == Metric::mixed_euclidean) types_.assign(rule.types.begin(), rule.types.end());
    count_missing();
    if (metric_ == Metric::cosine) {
        for (std::int64_t i = 0; i < points_.count && !zeros_; ++i) zeros_ = is_zero(points_.of(i), points_.dims);
        return;
    }
    for (std::int64_t a = 0; a < points_.dims; ++a)
        if (!types_.empty() && types_[index(a)] == AttributeType::nominal) rank(a);
    centre();
    if (metric_ != Metric::mixed_euclidean) scale_largest();
}

void Table::count_missing() {
    if (!points_.missing) return;
    for (std::int64_t i = 0; i < points_.count; ++i) {
        const double* const item = points_.of(i);
        const auto missing = std::count_if(item, item + points_.dims, [](double value) { return std::isnan(value); });
        most_missing_ = std::max<std::int64_t>(most_missing_, missing);
    }
}

/// By the median of what is finite: a float is finest near 0, and most values are near the median, outliers or not.
void Table::centre() {
    std::vector<double> values;
    for (std::int64_t a = 0; a < points_.dims; ++a) {
        if (is_nominal(a)) continue;
        values.clear();
        for (std::int64_t i = 0; i < points_.count; ++i)
            if (const double value = points_.of(i)[a]; std::isfinite(value)) values.push_back(value);
        if (values.empty()) continue;
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        centres_[index(a)] = *middle;
    }
}

/// So that neither squares of the largest overflow nor those of small ones vanish.
void Table::scale_largest() {
    constexpr int kExponent = 40;
    double largest = 0;
    for (std::int64_t i = 0; i < points_.count; ++i)
        for (std::int64_t a = 0; a < points_.dims; ++a) {
            const double value = std::fabs(centred(points_.of(i), a));
            if (std::isfinite(value)) largest = std::max(largest, value);
        }
    // Where the power itself is out of range the floats are no use, and everything is scanned.
    if (largest > 0 && std::abs(std::ilogb(largest)) < 960) scale_ = std::scalbn(1.0, kExponent - std::ilogb(largest));
}

void Table::rank(std::int64_t attribute) {
    std::vector<double>& values = ranks_[index(attribute)];
    for (std::int64_t i = 0; i < points_.count; ++i)
        if (const double value = points_.of(i)[attribute]; !std::isnan(value)) values.push_back(value);
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.empty()) values.push_back(0);  // nobody has it, but it is nominal
}

float Table::rank_of(std::int64_t attribute, double value) const {
    if (std::isnan(value)) return std::numeric_limits<float>::quiet_NaN();
    const std::vector<double>& values = ranks_[index(attribute)];
    const auto known = std::ranges::lower_bound(values, value);
    if (known == values.end() || *known != value) return static_cast<float>(values.size());
    return static_cast<float>(known - values.begin());
}

std::vector<float> Table::floats(const Rows& rows) const {
    const std::int64_t dims = float_dims();
    std::vector<float> floats(static_cast<std::size_t>(rows.count * dims));
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows.count; ++i) {
        const double* const item = rows.of(i);
        float* const to = floats.data() + i * dims;
        for (std::int64_t a = 0; a < rows.dims; ++a)
            to[a] = is_nominal(a) ? rank_of(a, item[a]) : static_cast<float>(centred(item, a));
        if (zeros_) to[rows.dims] = is_zero(item, rows.dims) ? 1.0F : 0.0F;
    }
    return floats;
}

}  // namespace espalier::exact
