#pragma once

#include <cstdint>

namespace espalier {

/// What the distance of two items with numeric attributes x and y is. Everything is computed in single
/// precision; magnitudes up to 1e17 stay clear of its limits when squared.
enum class Metric {
    euclidean,        ///< sqrt(sum of (x - y)^2)
    mixed_euclidean,  ///< the same, but a nominal attribute contributes 0 if equal and 1 if not
    manhattan,        ///< sum of |x - y|
    chebyshev,        ///< max of |x - y|
    cosine,           ///< 1 - x.y / (|x| |y|), never below 0; 1 if a norm is 0 (or its square underflows)
};

/// What a NaN among the attributes means.
enum class Missing {
    /// Nothing special: NaN propagates into the distance as in any arithmetic (as a nominal value it
    /// differs from everything).
    none,
    /// It marks a missing cell. An attribute that is missing on either side contributes nothing, and sums
    /// are scaled up to all attributes: by dims / present under the root (as scikit-learn's
    /// nan_euclidean_distances does). chebyshev and cosine need no scaling. With no attribute present on
    /// both sides the distance is NaN.
    allowed,
};

/// How `Metric::mixed_euclidean` compares an attribute. Nominal values are codes, compared for equality.
enum class AttributeType : std::uint8_t { numeric, nominal };

}  // namespace espalier
