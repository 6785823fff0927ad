#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "espalier/smallest_k.hpp"
#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"

/// The k smallest of every row of a matrix with their columns, ascending (sources K and P).
namespace espalier::smallest_k {

enum class VariantId : std::uint16_t;

inline constexpr std::string_view kLayoutNames[] = {"transposed", "row_major"};
inline constexpr std::string_view kOrderNames[] = {"ascending", "any"};
inline constexpr std::string_view kKeyNames[] = {"float32", "float16", "bfloat16", "int32"};

/// Bytes of a number.
constexpr std::size_t key_bytes(KeyType keys) { return keys == KeyType::float16 || keys == KeyType::bfloat16 ? 2 : 4; }

/// The rows' values: uniform random numbers; every value four times, from row's begin to end larger or smaller, which
/// is the best or the worst that can happen to a list that grows; distances of clustered points; or eight values only,
/// so that nearly everything ties. Nobody who asks for the k smallest knows it, and no tree may ask.
enum class Data : std::uint8_t { uniform, ascending, descending, distances, few_values };

inline constexpr std::string_view kDataNames[] = {"uniform", "ascending", "descending", "distances", "few_values"};

/// Reads a matrix and writes two lists per row, all in the problem's layout. Transposed, as `distance` writes
/// it: row r, column c is distances[c * rows + r], the j-th smallest value of row r values[j * rows + r], its
/// column indices[j * rows + r]. Row-major: distances[r * columns + c], values[r * k + j], indices[r * k + j].
/// Nothing overlaps.
///
/// Order: ascending by value, then by index. -0 equals +0 and may be written as either; NaN comes after
/// +infinity, NaNs among themselves by index, and may be written as any NaN. A row with fewer than k
/// columns ends in entries of value NaN and index kNoIndex.
/// Where the problem wants the k in any order, these come last all the same, and the others as the variant likes.
///
/// Numbers of another type than float32 are in `keys` and `selected`, which lie as `distances` and `values` do. int32
/// has no NaN: what fills a list is INT32_MAX and kNoIndex, which comes after elements of that value.
struct Buffers {
    const float* distances = nullptr;  ///< rows x columns
    float* values = nullptr;           ///< rows x k
    std::int32_t* indices = nullptr;   ///< rows x k
    const void* keys = nullptr;        ///< rows x columns; in place of `distances`
    void* selected = nullptr;          ///< rows x k; in place of `values`
};

/// `rows` and `columns` may be 0; k is 1..kMaxSmallestK (0 writes nothing); columns are below 2^31, as
/// their indices are 32-bit.
struct Problem {
    using Buffers = smallest_k::Buffers;
    using Id = VariantId;

    std::int64_t rows = 1000;
    std::int64_t columns = 1000;
    std::int64_t k = 10;
    MatrixLayout layout = MatrixLayout::transposed;
    Data data = Data::uniform;
    ListOrder order = ListOrder::ascending;
    KeyType keys = KeyType::float32;

    [[nodiscard]] constexpr std::int64_t elements() const { return rows * columns; }
    [[nodiscard]] constexpr std::int64_t results() const { return rows * k; }

    /// Whether the elements of a row are neighbours, and those of a list: a single row has no other layout.
    [[nodiscard]] constexpr bool has_rows() const { return layout == MatrixLayout::row_major || rows == 1; }

    /// Where the element of a row and column lies in `distances`.
    [[nodiscard]] constexpr std::int64_t at(std::int64_t row, std::int64_t column) const {
        return layout == MatrixLayout::row_major ? row * columns + column : column * rows + row;
    }
    /// Where the j-th smallest of a row lies in `values` and `indices`.
    [[nodiscard]] constexpr std::int64_t result_at(std::int64_t row, std::int64_t j) const {
        return layout == MatrixLayout::row_major ? row * k + j : j * rows + row;
    }

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{
            number<&Problem::rows>("rows", "problem.rows"),
            number<&Problem::columns>("columns", "problem.columns"),
            number<&Problem::k>("k", "problem.k"),
            optional(category<&Problem::layout>("layout", "problem.layout", "MatrixLayout", kLayoutNames)),
            optional(unknown(category<&Problem::data>("data", "problem.data", "Data", kDataNames))),
            relaxing(optional(category<&Problem::order>("order", "problem.order", "ListOrder", kOrderNames))),
            optional(category<&Problem::keys>("keys", "problem.keys", "KeyType", kKeyNames)),
            derived<&Problem::elements>("elements", "problem.elements()"),
            derived<&Problem::results>("results", "problem.results()"),
        };
        return list;
    }

    /// The matrix read and the lists written once, one comparison per element.
    [[nodiscard]] Cost cost() const {
        const auto n = static_cast<double>(elements()), key = static_cast<double>(key_bytes(keys));
        return {.bytes = key * n + (key + 4) * static_cast<double>(results()), .int_ops = n};
    }
};

}  // namespace espalier::smallest_k
