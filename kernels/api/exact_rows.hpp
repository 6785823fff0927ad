#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "espalier/exact_knn.hpp"
#include "kernels/api/exact_distance.hpp"

namespace espalier::exact {

/// The comparison of items: its metric, and how their values become what is compared.
struct RowRule {
    Comparison comparison = Comparison::euclidean;
    double p = 2;
    bool degrees = false;
    std::int64_t given_dims = 0;         ///< attributes as they were given
    std::vector<std::int32_t> kept{};    ///< which of them have a weight; empty: all
    std::vector<double> weights{};       ///< one for each that is kept
    bool weighted = false;               ///< one of them is not 1
    std::vector<AttributeType> types{};  ///< for mixed_euclidean only

    [[nodiscard]] std::int64_t dims() const { return static_cast<std::int64_t>(weights.size()); }
    [[nodiscard]] bool nominal(std::int64_t attribute) const {
        return comparison == Comparison::hamming ||
               (!types.empty() && types[static_cast<std::size_t>(attribute)] == AttributeType::nominal);
    }
    /// Whether devices know nothing that is near it.
    [[nodiscard]] bool host_only() const {
        return comparison == Comparison::minkowski || comparison == Comparison::haversine;
    }
};

/// The rule for valid arguments.
RowRule row_rule(const DistanceRule& rule, const ExactDistance& distance, std::int64_t dims);

/// Says what is wrong with a distance.
std::optional<std::string> invalid_distance(const ExactDistance& distance, std::int64_t dims);

/// Says what is wrong with the places among the items, if they are places.
std::optional<std::string> invalid_places(const RowRule& rule, const ItemsOfDoubles& items, const char* name);

/// Items in double precision, item-major, as they are compared: weighted, places in radians, for cosine at unit length
/// (zero where all values are).
struct Rows {
    std::vector<double> values;
    std::int64_t count = 0, dims = 0;
    bool missing = false;  ///< some value is NaN

    [[nodiscard]] const double* of(std::int64_t item) const { return values.data() + item * dims; }
};

/// Items first .. first + count.
Rows rows_of(const ItemsOfDoubles& items, const RowRule& rule, std::int64_t first, std::int64_t count);

/// All of these items, in the memory that they have.
Rows rows_of(OwnedItemsOfDoubles items, const RowRule& rule);

}  // namespace espalier::exact
