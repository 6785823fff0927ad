#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/exact_knn.hpp"
#include "kernels/api/exact_copies.hpp"
#include "kernels/api/exact_distance.hpp"
#include "kernels/api/exact_rows.hpp"
#include "kernels/device/host_array.hpp"

namespace espalier::exact {

/// A training set, and how items become floats that keep as much of their distances as floats can.
///
/// Numeric attributes are centred by their medians and, but for mixed_euclidean, scaled by a power of two that brings
/// the largest coordinate of most points to about 2^10. What is far beyond that is clamped, which brings items nearer
/// to each other, never farther, so that a distance of floats is still a lower bound; and cells of 1e30 or -9999 take
/// nothing from all others: at 512 times that coordinate where an attribute has few such values, else at 2^50. A
/// nominal value becomes its rank among the points' values, one that no point has the number after the last. For cosine
/// nothing is moved, and a further attribute is 1 for points that are zero, because they are not half as far from
/// others as they should be.
///
/// Points that are equal are there once; `copies` knows which ones a row stands for.
class Table {
public:
    Table(Rows points, const RowRule& rule, Missing missing);

    [[nodiscard]] const Rows& points() const { return points_; }  ///< that differ
    [[nodiscard]] const Copies& copies() const { return copies_; }
    [[nodiscard]] std::int64_t count() const { return copies_.count(); }  ///< of points as they were given
    [[nodiscard]] const RowRule& rule() const { return rule_; }
    [[nodiscard]] Missing missing_rule() const { return missing_rule_; }
    [[nodiscard]] bool is_nominal(std::int64_t attribute) const { return !ranks_[index(attribute)].empty(); }
    /// The values that points have of a nominal attribute, ascending; at least one.
    [[nodiscard]] const std::vector<double>& values_of(std::int64_t attribute) const {
        return ranks_[index(attribute)];
    }
    /// Which of them a value is; their number for one that no point has.
    [[nodiscard]] std::size_t code_of(std::int64_t attribute, double value) const;
    [[nodiscard]] std::int64_t most_missing() const { return most_missing_; }  ///< attributes of one point
    [[nodiscard]] double scale() const { return scale_; }

    /// Attribute `attribute` of an item as the floats have it, before it is rounded; of a numeric one.
    [[nodiscard]] double centred(const double* item, std::int64_t attribute) const {
        const double value = (item[attribute] - centres_[index(attribute)]) * scale_;
        const double most = limits_[index(attribute)];
        return value > most ? most : value < -most ? -most : value;
    }

    /// How far a coordinate of `attribute` is from the next one that some point has, where it is so large that this
    /// matters; else 0.
    [[nodiscard]] double gap(std::int64_t attribute, double coordinate) const;

    /// The numeric attribute in which an item is the farthest beyond what most points have; -1 if there is none.
    [[nodiscard]] std::int64_t far_attribute(const double* item) const;

    /// Whether the sums that single precision makes of this item and the points have no rounding at all: coordinates
    /// are whole numbers of one unit, and few of them.
    [[nodiscard]] bool exact_in_floats(const double* item) const;

    /// The attributes of the items as floats.
    [[nodiscard]] std::int64_t float_dims() const { return points_.dims + (zeros_ ? 1 : 0); }

    /// The items as floats, attribute-major.
    [[nodiscard]] device::HostArray<float> floats(const Rows& rows) const;

private:
    static constexpr double kMost = 0x1p50;

    /// Of one attribute: the coordinates beyond what most have, if they are few, and the range of the others.
    struct Far {
        std::vector<double> values;
        bool many = true;  ///< or not looked for
        double least = 0, most = 0;
    };

    static std::size_t index(std::int64_t attribute) { return static_cast<std::size_t>(attribute); }
    [[nodiscard]] bool scales() const;
    void centre();
    [[nodiscard]] double largest_of_most() const;
    void scale();
    void find_far();
    void clamp_far();
    void find_unit();
    void rank(std::int64_t attribute);
    void count_missing();
    [[nodiscard]] bool fits_unit(double value, std::int64_t attribute) const;
    [[nodiscard]] float rank_of(std::int64_t attribute, double value) const;

    RowRule rule_;
    Missing missing_rule_;
    Rows points_;
    Copies copies_;
    std::vector<double> centres_;             ///< one per attribute
    std::vector<std::vector<double>> ranks_;  ///< the values of nominal attributes, ascending
    std::vector<Far> far_;
    std::vector<double> limits_;        ///< where coordinates are clamped, one per attribute
    bool clamps_few_ = false;           ///< at less than 2^50
    double scale_ = 1, most_ = 0;       ///< the latter: the largest coordinate of most points
    double unit_ = 0, most_units_ = 0;  ///< of coordinates that are exact in floats; 0: they are not
    bool zeros_ = false;
    std::int64_t most_missing_ = 0;
};

}  // namespace espalier::exact
