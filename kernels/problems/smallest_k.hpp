#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "espalier/smallest_k.hpp"
#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"

/// The k smallest of every row of a matrix with their columns, ascending (sources K and P).
namespace espalier::smallest_k {

enum class VariantId : std::uint16_t;

/// Reads a matrix, transposed as `distance` writes it: row r, column c is distances[c * rows + r]. Writes
/// two lists per row, transposed likewise: the j-th smallest value of row r is values[j * rows + r], its
/// column indices[j * rows + r]. Nothing overlaps.
///
/// Order: ascending by value, then by index. -0 equals +0 and may be written as either; NaN comes after
/// +infinity, NaNs among themselves by index, and may be written as any NaN. A row with fewer than k
/// columns ends in entries of value NaN and index kNoIndex.
struct Buffers {
    const float* distances = nullptr;  ///< columns x rows
    float* values = nullptr;           ///< k x rows
    std::int32_t* indices = nullptr;   ///< k x rows
};

/// `rows` and `columns` may be 0; k is 1..kMaxSmallestK (0 writes nothing); columns are below 2^31, as
/// their indices are 32-bit.
struct Problem {
    using Buffers = smallest_k::Buffers;
    using Id = VariantId;

    std::int64_t rows = 1000;
    std::int64_t columns = 1000;
    std::int64_t k = 10;

    [[nodiscard]] constexpr std::int64_t elements() const { return rows * columns; }
    [[nodiscard]] constexpr std::int64_t results() const { return rows * k; }

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{
            number<&Problem::rows>("rows", "problem.rows"),
            number<&Problem::columns>("columns", "problem.columns"),
            number<&Problem::k>("k", "problem.k"),
            derived<&Problem::elements>("elements", "problem.elements()"),
            derived<&Problem::results>("results", "problem.results()"),
        };
        return list;
    }

    /// The matrix read and the lists written once, one comparison per element.
    [[nodiscard]] Cost cost() const {
        const auto n = static_cast<double>(elements());
        return {.bytes = 4 * n + 8 * static_cast<double>(results()), .int_ops = n};
    }
};

}  // namespace espalier::smallest_k
