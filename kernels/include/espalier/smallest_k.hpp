#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/device.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "espalier/export.hpp"
#include "espalier/key_type.hpp"
#include "espalier/list_order.hpp"
#include "espalier/matrix_layout.hpp"
#include "espalier/options.hpp"
#include "espalier/plan.hpp"

namespace espalier::inline v1 {

/// The index that fills a list of the k smallest beyond the number of candidates; its value is NaN, of int32 keys
/// INT32_MAX.
inline constexpr std::int32_t kNoIndex = -1;

/// The longest list that `select_smallest_k` is asked for.
inline constexpr std::int64_t kMaxSmallestK = 1024;

/// How many values are selected from: `rows` lists of `columns` candidates each (fewer than 2^31, because
/// indices have 32 bits), how many of each are kept, 1..kMaxSmallestK, how all arrays of the call lie in memory, in
/// which order the k are wanted, of what type the numbers are, and how far apart the rows lie.
struct SelectionShape {
    std::int64_t rows = 0;                          ///< lists of candidates
    std::int64_t columns = 0;                       ///< candidates of each
    std::int64_t k = 1;                             ///< how many of each are kept
    MatrixLayout layout = MatrixLayout::row_major;  ///< of all arrays
    ListOrder order = ListOrder::ascending;         ///< of the k
    KeyType keys = KeyType::float32;                ///< of what type the numbers are
    /// Elements from one row of the matrix to the next, of arrays that are parts of larger ones; if transposed, from
    /// one column to the next. 0: `columns`, or `rows` if transposed.
    std::int64_t stride = 0;
    std::int64_t list_stride = 0;  ///< the same of the lists. 0: `k`, or `rows` if transposed
};

/// The k smallest of every row with their columns, ascending, ties by the lower column. NaN comes after
/// +infinity. A row of fewer than k columns ends in entries of value NaN and index kNoIndex.
/// `distances` is a matrix of rows x columns, `values` and `indices` are matrices of rows x k: the j-th smallest of
/// row r and its column. All three have the shape's layout; none may overlap. What lies between rows is not written.
/// - `row_major`, as `pairwise_distances` writes: distances[r * columns + c], values[r * k + j], indices[r * k + j].
/// - `transposed`: distances[c * rows + r], values[j * rows + r], indices[j * rows + r].
/// With strides these take the place of `columns`, `k` and `rows`.
/// With `ListOrder::any` a list holds the same elements, of equal ones those of the lower columns, in an order of the
/// variant's; a device may then do without sorting them.
/// `shape.keys` is float32; numbers of another type are `select_smallest_k_of`'s.
/// Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure.
ESPALIER_API Result<void> select_smallest_k(const Device& device, const SelectionShape& shape, const float* distances,
                                            float* values, std::int32_t* indices, const Options& options = {});

/// `select_smallest_k` of numbers of any type: `keys`, a matrix of rows x columns, and `values`, of rows x k, hold what
/// `shape.keys` says, and are aligned to its elements.
/// - `float32`: `float`.
/// - `float16`, `bfloat16`: 16-bit patterns of that format, in the machine's byte order. Denormals count as they are.
/// - `int32`: `std::int32_t`. A row of fewer than k columns ends in entries of value INT32_MAX and index kNoIndex; an
///   element of that value has its column beside it and comes before them.
/// Of all but int32 NaN comes after +infinity, NaNs among themselves by their columns, and fills rows of fewer than k
/// columns; -0 equals +0. Either may be written as any number that equals it, NaN as any NaN. Other numbers are
/// returned bit by bit, as nothing is computed. Layouts, ties and orders are `select_smallest_k`'s.
/// Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure.
ESPALIER_API Result<void> select_smallest_k_of(const Device& device, const SelectionShape& shape, const void* keys,
                                               void* values, std::int32_t* indices, const Options& options = {});

/// Selections of one shape.
class ESPALIER_API SelectionPlan : public Plan {
public:
    /// Does what `select_smallest_k` does. Of a plan for float32. The arrays end with their last rows.
    Result<void> run(std::span<const float> distances, std::span<float> values, std::span<std::int32_t> indices,
                     Stream stream = nullptr, std::span<std::byte> workspace = {}) const;

    /// Does what `select_smallest_k_of` does: `keys` and `values` are the bytes of the matrices.
    Result<void> run_of(std::span<const std::byte> keys, std::span<std::byte> values, std::span<std::int32_t> indices,
                        Stream stream = nullptr, std::span<std::byte> workspace = {}) const;

    using Plan::Plan;
};

/// Options: all but `stream` and `wait`. Errors: as of `select_smallest_k`.
ESPALIER_API Result<SelectionPlan> plan_select_smallest_k(const Device& device, const SelectionShape& shape,
                                                          const Options& options = {},
                                                          const PlanOptions& planning = {});

/// Explains what `select_smallest_k`, or `select_smallest_k_of`, would run. Options: `variant`, `deterministic`,
/// `threads`.
ESPALIER_API Result<Explanation> explain_select_smallest_k(const Device& device, const SelectionShape& shape,
                                                           const Options& options = {});

}  // namespace espalier::inline v1
