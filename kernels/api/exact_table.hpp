#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exact_knn.hpp"

namespace espalier::exact {

/// Items in double precision, item-major: their values, or for cosine these at unit length (zero where all are).
struct Rows {
    std::vector<double> values;
    std::int64_t count = 0, dims = 0;
    bool missing = false;  ///< some value is NaN

    [[nodiscard]] const double* of(std::int64_t item) const { return values.data() + item * dims; }
};

/// Items first .. first + count.
Rows rows_of(const ItemsOfDoubles& items, Metric metric, std::int64_t first, std::int64_t count);

/// A training set, and how items become floats that keep as much of their distances as floats can: numeric
/// attributes are centred by their medians and, but for mixed_euclidean, scaled by a power of two that brings the
/// largest to about 2^40. A nominal value becomes its rank among the points' values, one that no point has the number
/// after the last. For cosine nothing is moved, and a further attribute is 1 for points that are zero, because they are
/// not half as far from others as they should be.
class Table {
public:
    Table(const ItemsOfDoubles& points, const DistanceRule& rule);

    [[nodiscard]] const Rows& points() const { return points_; }
    [[nodiscard]] Metric metric() const { return metric_; }
    [[nodiscard]] Missing missing_rule() const { return missing_rule_; }
    [[nodiscard]] const std::vector<AttributeType>& types() const { return types_; }
    [[nodiscard]] bool is_nominal(std::int64_t attribute) const { return !ranks_[index(attribute)].empty(); }
    [[nodiscard]] std::int64_t most_missing() const { return most_missing_; }  ///< attributes of one point
    [[nodiscard]] double scale() const { return scale_; }

    /// Attribute `attribute` of an item, centred and scaled; of a numeric one.
    [[nodiscard]] double centred(const double* item, std::int64_t attribute) const {
        return (item[attribute] - centres_[index(attribute)]) * scale_;
    }

    /// The attributes of the items as floats.
    [[nodiscard]] std::int64_t float_dims() const { return points_.dims + (zeros_ ? 1 : 0); }

    /// The items as floats, item-major.
    [[nodiscard]] std::vector<float> floats(const Rows& rows) const;

private:
    static std::size_t index(std::int64_t attribute) { return static_cast<std::size_t>(attribute); }
    void centre();
    void scale_largest();
    void rank(std::int64_t attribute);
    void count_missing();
    [[nodiscard]] float rank_of(std::int64_t attribute, double value) const;

    Metric metric_;
    Missing missing_rule_;
    std::vector<AttributeType> types_;
    Rows points_;
    std::vector<double> centres_;             ///< one per attribute
    std::vector<std::vector<double>> ranks_;  ///< the values of nominal attributes, ascending
    double scale_ = 1;
    bool zeros_ = false;
    std::int64_t most_missing_ = 0;
};

}  // namespace espalier::exact
