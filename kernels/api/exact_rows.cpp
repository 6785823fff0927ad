#include "kernels/api/exact_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace espalier::exact {
namespace {

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

Comparison comparison_of(const DistanceRule& rule, const ExactDistance& distance) {
    switch (distance.metric) {
        case ExactMetric::haversine: return Comparison::haversine;
        case ExactMetric::hamming: return Comparison::hamming;
        case ExactMetric::minkowski:
            if (distance.p == 1) return Comparison::manhattan;
            if (distance.p == 2) return Comparison::euclidean;
            return std::isinf(distance.p) ? Comparison::chebyshev : Comparison::minkowski;
        case ExactMetric::of_rule: break;
    }
    switch (rule.metric) {
        case Metric::euclidean: return Comparison::euclidean;
        case Metric::mixed_euclidean: return Comparison::mixed_euclidean;
        case Metric::manhattan: return Comparison::manhattan;
        case Metric::chebyshev: return Comparison::chebyshev;
        case Metric::cosine: break;
    }
    return Comparison::cosine;
}

/// Turns values as they were given into what is compared.
void prepare(Rows& rows, const RowRule& rule) {
    const std::int64_t dims = rows.dims;
    bool missing = false;
#pragma omp parallel for schedule(static) reduction(|| : missing)
    for (std::int64_t i = 0; i < rows.count; ++i) {
        double* const row = rows.values.data() + i * dims;
        for (std::int64_t a = 0; a < dims && rule.weighted; ++a)
            if (!rule.nominal(a)) row[a] *= rule.weights[static_cast<std::size_t>(a)];
        for (std::int64_t a = 0; a < dims && rule.comparison == Comparison::haversine && rule.degrees; ++a)
            row[a] *= std::numbers::pi / 180;
        missing = missing || std::any_of(row, row + dims, [](double value) { return std::isnan(value); });
        if (rule.comparison == Comparison::cosine) normalise(row, dims);
    }
    rows.missing = missing;
}

double value_of(const ItemsOfDoubles& items, std::int64_t item, std::int64_t attribute) {
    const bool by_item = items.layout == Layout::item_major;
    const std::int64_t stride = items.stride != 0 ? items.stride : by_item ? items.dims : items.count;
    return items.values[by_item ? item * stride + attribute : attribute * stride + item];
}

}  // namespace

RowRule row_rule(const DistanceRule& rule, const ExactDistance& distance, std::int64_t dims) {
    RowRule made{
        .comparison = comparison_of(rule, distance), .p = distance.p, .degrees = distance.degrees, .given_dims = dims};
    const bool mixed = made.comparison == Comparison::mixed_euclidean;
    for (std::int64_t a = 0; a < dims; ++a) {
        const double weight = distance.weights.empty() ? 1 : distance.weights[static_cast<std::size_t>(a)];
        if (weight == 0) continue;
        made.kept.push_back(static_cast<std::int32_t>(a));
        made.weights.push_back(weight);
        made.weighted = made.weighted || weight != 1;
        if (mixed) made.types.push_back(rule.types[static_cast<std::size_t>(a)]);
    }
    if (made.dims() == dims) made.kept.clear();
    return made;
}

std::optional<std::string> invalid_distance(const ExactDistance& distance, std::int64_t dims) {
    if (distance.metric < ExactMetric::of_rule || distance.metric > ExactMetric::hamming)
        return "distance.metric is none of the enumerators of espalier::ExactMetric";
    if (distance.metric == ExactMetric::minkowski && !(distance.p >= 1))
        return "p is " + std::to_string(distance.p) + ": below 1 (or NaN) the sum of powers is no distance";
    if (distance.metric == ExactMetric::haversine && dims != 2)
        return "haversine compares places of 2 attributes, latitude and longitude, but dims is " + std::to_string(dims);
    if (distance.metric == ExactMetric::haversine && !distance.weights.empty())
        return "haversine knows no weights of attributes; leave them out";
    if (!distance.weights.empty() && static_cast<std::int64_t>(distance.weights.size()) != dims)
        return "there are " + std::to_string(dims) + " attributes, but " + std::to_string(distance.weights.size()) +
               " weights";
    for (std::size_t a = 0; a < distance.weights.size(); ++a)
        if (!(distance.weights[a] >= 0) || std::isinf(distance.weights[a]))
            return "the weight of attribute " + std::to_string(a) + " is " + std::to_string(distance.weights[a]) +
                   ": weights are finite and not negative";
    return std::nullopt;
}

std::optional<std::string> invalid_places(const RowRule& rule, const ItemsOfDoubles& items, const char* name) {
    if (rule.comparison != Comparison::haversine || items.values == nullptr) return std::nullopt;
    const double most = rule.degrees ? 90 : std::numbers::pi / 2 * (1 + 1e-9);
    for (std::int64_t i = 0; i < items.count; ++i) {
        const double latitude = value_of(items, i, 0);
        if (std::isnan(latitude) || std::fabs(latitude) <= most) continue;
        return std::string(name) + ": the latitude of item " + std::to_string(i) + " is " + std::to_string(latitude) +
               ", beyond " + (rule.degrees ? "90 degrees" : "pi/2 radians") +
               "; the first attribute is the latitude, the second the longitude, both in " +
               (rule.degrees ? "degrees" : "radians");
    }
    return std::nullopt;
}

Rows rows_of(const ItemsOfDoubles& items, const RowRule& rule, std::int64_t first, std::int64_t count) {
    const std::int64_t dims = rule.dims();
    Rows rows{.values = {}, .count = count, .dims = dims};
    const bool dense = items.stride == 0 || items.stride == items.dims;
    const bool as_is = items.layout == Layout::item_major && dense && rule.kept.empty();
    if (as_is && items.values)
        rows.values.assign(items.values + first * items.dims, items.values + (first + count) * items.dims);
    rows.values.resize(static_cast<std::size_t>(count * dims));
    if (!as_is) {
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t a = 0; a < dims; ++a)
                rows.values[static_cast<std::size_t>(i * dims + a)] =
                    value_of(items, first + i, rule.kept.empty() ? a : rule.kept[static_cast<std::size_t>(a)]);
    }
    prepare(rows, rule);
    return rows;
}

Rows rows_of(OwnedItemsOfDoubles items, const RowRule& rule) {
    Rows rows{.values = std::move(items.values), .count = items.count, .dims = rule.dims()};
    if (!rule.kept.empty()) {
        auto to = rows.values.begin();
        for (std::int64_t i = 0; i < items.count; ++i)
            for (const std::int32_t a : rule.kept) *to++ = rows.values[static_cast<std::size_t>(i * items.dims + a)];
    }
    rows.values.resize(static_cast<std::size_t>(rows.count * rows.dims));
    prepare(rows, rule);
    return rows;
}

}  // namespace espalier::exact
