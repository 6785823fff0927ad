#include "kernels/api/exact_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace espalier::exact {
namespace {

/// Coordinates beyond so many times what most points have are far.
constexpr double kFarTimes = 256;

bool is_zero(const double* item, std::int64_t dims) {
    return std::all_of(item, item + dims, [](double value) { return value == 0; });
}

/// The power of two of the last bit of a number that is not 0.
int last_bit(double value) {
    int exponent = 0;
    const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), 53));
    return exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(digits));
}

/// Whether x - y has no rounding.
bool subtracts_exactly(double x, double y) {
    const double difference = x - y, back = difference - x;
    return std::isfinite(difference) && (x - (difference - back)) - (y + back) == 0;
}

/// So many units from the centre single precision can sum up over all attributes, with room to tell neighbouring sums
/// apart behind a root.
double most_units(Comparison comparison, std::int64_t dims) {
    if (dims == 0) return 0;
    if (comparison == Comparison::manhattan || comparison == Comparison::chebyshev)
        return std::floor(0x1p21 / static_cast<double>(dims));
    return std::floor(std::sqrt(0x1p20 / static_cast<double>(dims)) / 2);
}

}  // namespace

Table::Table(Rows points, const RowRule& rule, Missing missing)
    : rule_(rule),
      missing_rule_(missing),
      points_(std::move(points)),
      copies_(points_),
      centres_(index(points_.dims)),
      ranks_(index(points_.dims)),
      far_(index(points_.dims)),
      limits_(index(points_.dims), kMost) {
    count_missing();
    if (rule_.comparison == Comparison::cosine) {
        for (std::int64_t i = 0; i < points_.count && !zeros_; ++i) zeros_ = is_zero(points_.of(i), points_.dims);
        return;
    }
    if (rule_.host_only()) return;
    for (std::int64_t a = 0; a < points_.dims; ++a)
        if (rule_.nominal(a)) rank(a);
    centre();
    scale();
    find_far();
    clamp_far();
    find_unit();
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

/// The median of the points' largest coordinates: a huge cell in less than half of the rows does not move it.
double Table::largest_of_most() const {
    std::vector<double> largest;
    for (std::int64_t i = 0; i < points_.count; ++i) {
        double most = 0;
        for (std::int64_t a = 0; a < points_.dims; ++a) {
            const double value = std::fabs(points_.of(i)[a] - centres_[index(a)]);
            if (!is_nominal(a) && std::isfinite(value)) most = std::max(most, value);
        }
        if (most > 0) largest.push_back(most);
    }
    if (largest.empty()) return 0;
    const auto middle = largest.begin() + static_cast<std::ptrdiff_t>(largest.size() / 2);
    std::nth_element(largest.begin(), middle, largest.end());
    return *middle;
}

/// So that neither squares of the largest overflow nor those of small ones vanish. Beside nominal attributes a
/// difference of theirs is 1, or the least of their weights.
void Table::scale() {
    constexpr int kExponent = 10;
    most_ = largest_of_most();
    if (rule_.comparison == Comparison::mixed_euclidean) {
        double least = HUGE_VAL;
        for (std::int64_t a = 0; a < points_.dims; ++a)
            if (is_nominal(a)) least = std::min(least, rule_.weights[index(a)]);
        if (std::isfinite(least)) scale_ = 1 / least;
    } else if (most_ > 0 && std::abs(std::ilogb(most_)) < 960) {
        // Where the power itself is out of range the floats are no use, and everything is scanned.
        scale_ = std::scalbn(1.0, kExponent - std::ilogb(most_));
    }
    most_ *= scale_;
}

void Table::find_far() {
    constexpr std::size_t kFew = 64;
    for (Far& far : far_) far = {.values = {}, .many = false, .least = HUGE_VAL, .most = -HUGE_VAL};
    for (std::int64_t i = 0; i < points_.count; ++i)
        for (std::int64_t a = 0; a < points_.dims; ++a) {
            const double value = is_nominal(a) ? 0 : centred(points_.of(i), a);
            Far& far = far_[index(a)];
            if (std::isnan(value) || far.many) continue;
            if (std::fabs(value) <= kFarTimes * most_) {
                far.least = std::min(far.least, value);
                far.most = std::max(far.most, value);
                continue;
            }
            const auto at = std::ranges::lower_bound(far.values, value);
            if (at == far.values.end() || *at != value) far.values.insert(at, value);
            far.many = far.values.size() > kFew;
        }
}

/// Few values beyond all others are codes for "no data" or mistakes. Left as they are, each would pull the mean of its
/// attribute along, about which pipelines centre.
void Table::clamp_far() {
    for (std::size_t a = 0; a < far_.size(); ++a) {
        Far& far = far_[a];
        if (far.many || far.values.empty()) continue;
        const double limit = 2 * kFarTimes * most_;
        limits_[a] = std::min(limit, kMost);
        clamps_few_ = true;
        for (double& value : far.values) value = std::clamp(value, -limits_[a], limits_[a]);
        far.values.erase(std::unique(far.values.begin(), far.values.end()), far.values.end());
    }
}

double Table::gap(std::int64_t attribute, double coordinate) const {
    const Far& far = far_[index(attribute)];
    if (far.many || std::fabs(coordinate) <= kFarTimes * most_) return 0;
    const auto above = std::ranges::upper_bound(far.values, coordinate);
    const auto from = std::ranges::lower_bound(far.values, coordinate);
    double gap = coordinate > 0 ? coordinate - far.most : far.least - coordinate;
    if (above != far.values.end()) gap = std::min(gap, *above - coordinate);
    if (from != far.values.begin()) gap = std::min(gap, coordinate - *(from - 1));
    return gap;
}

std::int64_t Table::far_attribute(const double* item) const {
    if (rule_.comparison == Comparison::cosine || rule_.host_only()) return -1;
    double farthest = kFarTimes * most_;
    std::int64_t far = -1;
    for (std::int64_t a = 0; a < points_.dims; ++a) {
        const double coordinate = is_nominal(a) ? 0 : std::fabs((item[a] - centres_[index(a)]) * scale_);
        if (!(coordinate > farthest)) continue;
        farthest = coordinate;
        far = a;
    }
    return far;
}

/// The unit that all coordinates are whole multiples of, if floats add these up without rounding.
void Table::find_unit() {
    const Comparison comparison = rule_.comparison;
    const bool counts_nominal = comparison == Comparison::mixed_euclidean || comparison == Comparison::hamming;
    if (points_.missing || clamps_few_ || points_.dims == 0 || (counts_nominal && rule_.weighted)) return;
    const double most = most_units(comparison, points_.dims);
    int exponent = counts_nominal ? 0 : std::numeric_limits<int>::max();
    double largest = 0;
    for (std::int64_t i = 0; i < points_.count; ++i)
        for (std::int64_t a = 0; a < points_.dims; ++a) {
            if (is_nominal(a)) continue;
            const double value = points_.of(i)[a], coordinate = centred(points_.of(i), a);
            if (!subtracts_exactly(value, centres_[index(a)])) return;
            if (coordinate == 0) continue;
            largest = std::max(largest, std::fabs(coordinate));
            exponent = std::min(exponent, last_bit(coordinate));
            if (std::ldexp(largest, -exponent) > most) return;
        }
    if (exponent == std::numeric_limits<int>::max()) exponent = 0;  // all points are equal
    if (counts_nominal && std::ldexp(1.0, -exponent) > most) return;
    unit_ = std::ldexp(1.0, exponent);
    most_units_ = most;
}

bool Table::fits_unit(double value, std::int64_t attribute) const {
    if (!subtracts_exactly(value, centres_[index(attribute)])) return false;
    const double units = (value - centres_[index(attribute)]) * scale_ / unit_;
    return units == std::floor(units) && std::fabs(units) <= most_units_;
}

bool Table::exact_in_floats(const double* item) const {
    if (unit_ == 0) return false;
    for (std::int64_t a = 0; a < points_.dims; ++a)
        if (!is_nominal(a) && !fits_unit(item[a], a)) return false;
    return true;
}

void Table::rank(std::int64_t attribute) {
    std::vector<double>& values = ranks_[index(attribute)];
    for (std::int64_t i = 0; i < points_.count; ++i)
        if (const double value = points_.of(i)[attribute]; !std::isnan(value)) values.push_back(value);
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.empty()) values.push_back(0);  // nobody has it, but it is nominal
}

std::size_t Table::code_of(std::int64_t attribute, double value) const {
    const std::vector<double>& values = values_of(attribute);
    const auto known = std::ranges::lower_bound(values, value);
    if (known == values.end() || *known != value) return values.size();
    return static_cast<std::size_t>(known - values.begin());
}

float Table::rank_of(std::int64_t attribute, double value) const {
    return std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(code_of(attribute, value));
}

device::HostArray<float> Table::floats(const Rows& rows) const {
    constexpr std::int64_t kItems = 16;  // at a time, so that neighbouring floats are written together
    const std::int64_t dims = rows.dims;
    device::HostArray<float> floats(static_cast<std::size_t>(rows.count * float_dims()));
#pragma omp parallel for schedule(static)
    for (std::int64_t first = 0; first < rows.count; first += kItems) {
        const std::int64_t end = std::min(rows.count, first + kItems);
        for (std::int64_t a = 0; a < dims; ++a)
            for (std::int64_t i = first; i < end; ++i)
                floats[static_cast<std::size_t>(a * rows.count + i)] =
                    is_nominal(a) ? rank_of(a, rows.of(i)[a]) : static_cast<float>(centred(rows.of(i), a));
        for (std::int64_t i = first; i < end && zeros_; ++i)
            floats[static_cast<std::size_t>(dims * rows.count + i)] = is_zero(rows.of(i), dims) ? 1.0F : 0.0F;
    }
    return floats;
}

}  // namespace espalier::exact
