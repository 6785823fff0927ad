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

namespace espalier::inline v1 {

/// The distance of two items with numeric attributes x and y. Everything is computed in single
/// precision; magnitudes up to 1e17 stay clear of its limits when squared.
enum class Metric {
    euclidean,        ///< sqrt(sum of (x - y)^2)
    mixed_euclidean,  ///< the same, but a nominal attribute contributes 0 if equal and 1 if not
    manhattan,        ///< sum of |x - y|
    chebyshev,        ///< max of |x - y|
    cosine,           ///< 1 - x.y / (|x| |y|), never below 0; 1 if a norm is 0 (or its square underflows)
};

/// The meaning of a NaN among the attributes.
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
    attribute_major,  ///< attribute a of item i at [a * stride + i]: what the kernels read
    item_major,       ///< attribute a of item i at [i * stride + a]: as C arrays have it; transposed on the way
};

/// `count` items of `dims` numbers each, or a part of a larger table of them: some of its items, and some neighbouring
/// columns or attributes. What a call brings to its kernels it copies once, without gaps; nothing else is read.
struct Items {
    const float* values = nullptr;       ///< count * dims numbers
    std::int64_t count = 0;              ///< items
    std::int64_t dims = 0;               ///< attributes of each
    Layout layout = Layout::item_major;  ///< which of them lie side by side
    /// Numbers from one item to the next, or if attribute-major from one attribute to the next; 0: `dims`, or `count`.
    std::int64_t stride = 0;
};

/// How two items are compared.
struct DistanceRule {
    Metric metric = Metric::euclidean;       ///< what their distance is
    Missing missing = Missing::none;         ///< what a NaN means
    std::span<const AttributeType> types{};  ///< in host memory, one per attribute; for mixed_euclidean only
};

/// A matrix of distances that the caller owns, with a row per query and a column per point: the distance of query q and
/// point p is at [q * stride + p] if `row_major`, at [p * stride + q] if `transposed`. It may be part of a larger one:
/// what lies between its rows, or between its columns if transposed, is not written.
struct DistanceMatrix {
    float* values = nullptr;                        ///< its first row, or column if transposed
    MatrixLayout layout = MatrixLayout::row_major;  ///< what lies side by side
    std::int64_t stride = 0;                        ///< 0: the number of points, or of queries if transposed

    DistanceMatrix() = default;
    /// `distances` are the values, in `order`, `from_row_to_row` elements from one row (or column) to the next.
    DistanceMatrix(float* distances, MatrixLayout order = MatrixLayout::row_major, std::int64_t from_row_to_row = 0)
        : values(distances), layout(order), stride(from_row_to_row) {}
};

/// The distance by `rule` of every one of `queries` to every one of `points`. (Every metric is symmetric: the row-major
/// matrix is what exchanging the two sets gives transposed. That is how it is computed and explained.) `result`
/// overlaps neither set. Any size may be 0; without attributes the distance is that of two equal items (cosine: 1;
/// Missing::allowed: NaN).
/// With `Options::progress` it is computed in parts, each as a call of its own.
/// Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure, cancelled.
ESPALIER_API Result<void> pairwise_distances(const Device& device, const Items& queries, const Items& points,
                                             const DistanceRule& rule, const DistanceMatrix& result,
                                             const Options& options = {});

/// Distances between sets of some sizes, layouts and strides, by one rule.
class ESPALIER_API DistancesPlan : public Plan {
public:
    /// Does what `pairwise_distances` does.
    Result<void> run(const Items& queries, const Items& points, const DistanceMatrix& result, Stream stream = nullptr,
                     std::span<std::byte> workspace = {}) const;

    using Plan::Plan;
};

/// Nobody looks at the values of the sets and of `result`, which say how the arrays of the runs lie.
/// Options: all but `stream`, `wait` and `progress`. Errors: as of `pairwise_distances`.
ESPALIER_API Result<DistancesPlan> plan_pairwise_distances(const Device& device, const Items& queries,
                                                           const Items& points, const DistanceRule& rule,
                                                           const DistanceMatrix& result = {},
                                                           const Options& options = {},
                                                           const PlanOptions& planning = {});

/// Explains what `pairwise_distances` would run for sets of these sizes and a matrix of this layout; nobody looks at
/// their values.
/// Options: `variant`, `deterministic`, `threads`.
ESPALIER_API Result<Explanation> explain_pairwise_distances(const Device& device, const Items& queries,
                                                            const Items& points, const DistanceRule& rule,
                                                            const DistanceMatrix& result = {},
                                                            const Options& options = {});

}  // namespace espalier::inline v1
