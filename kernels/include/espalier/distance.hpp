#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/device.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "espalier/export.hpp"
#include "espalier/matrix_layout.hpp"
#include "espalier/options.hpp"
#include "espalier/plan.hpp"

namespace espalier::inline v0 {

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

/// How the attributes of a set of items lie in memory.
enum class Layout {
    attribute_major,  ///< attribute a of item i at [a * count + i]: what the kernels read
    item_major,       ///< attribute a of item i at [i * dims + a]: as C arrays have it; transposed on the way
};

/// `count` items of `dims` numbers each.
struct Items {
    const float* values = nullptr;       ///< count * dims numbers
    std::int64_t count = 0;              ///< items
    std::int64_t dims = 0;               ///< attributes of each
    Layout layout = Layout::item_major;  ///< which of them lie side by side
};

/// How two items are compared.
struct DistanceRule {
    Metric metric = Metric::euclidean;       ///< what their distance is
    Missing missing = Missing::none;         ///< what a NaN means
    std::span<const AttributeType> types{};  ///< in host memory, one per attribute; for mixed_euclidean only
};

/// The distance by `rule` of every one of `queries` to every one of `points`, a matrix with a row per query and a
/// column per point, in the `layout` that `select_smallest_k` is told. That of query q and point p is
/// result[p * queries.count + q] if `transposed`, result[q * points.count + p] if `row_major`. (Every metric is
/// symmetric: the row-major matrix is what exchanging the two sets gives transposed. That is how it is computed and
/// explained.)
/// `result` has queries.count x points.count elements and overlaps neither set.
/// Any size may be 0; without attributes the distance is that of two equal items (cosine: 1;
/// Missing::allowed: NaN).
/// Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure.
ESPALIER_API Result<void> pairwise_distances(const Device& device, const Items& queries, const Items& points,
                                             const DistanceRule& rule, float* result, const Options& options = {},
                                             MatrixLayout layout = MatrixLayout::transposed);

/// Distances between sets of some sizes and layouts, by one rule.
class ESPALIER_API DistancesPlan : public Plan {
public:
    /// Does what `pairwise_distances` does.
    Result<void> run(const Items& queries, const Items& points, float* result, Stream stream = nullptr,
                     std::span<std::byte> workspace = {}) const;

    using Plan::Plan;
};

/// The values of the sets are not read. Options: all but `stream` and `wait`. Errors: as of `pairwise_distances`.
ESPALIER_API Result<DistancesPlan> plan_pairwise_distances(const Device& device, const Items& queries,
                                                           const Items& points, const DistanceRule& rule,
                                                           const Options& options = {},
                                                           MatrixLayout layout = MatrixLayout::transposed);

/// What `pairwise_distances` would run for sets of these sizes, and why; their values are not read.
/// Options: `variant`, `deterministic`, `threads`.
ESPALIER_API Result<Explanation> explain_pairwise_distances(const Device& device, const Items& queries,
                                                            const Items& points, const DistanceRule& rule,
                                                            const Options& options = {},
                                                            MatrixLayout layout = MatrixLayout::transposed);

}  // namespace espalier::inline v0
