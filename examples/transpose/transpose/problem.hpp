#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"
#include "kernels/core/variant.hpp"

/// A matrix of floats with rows and columns exchanged.
namespace espalier::transpose {

enum class VariantId : std::uint16_t;

/// out[c * rows + r] = in[r * columns + c]
struct Buffers {
    const float* in = nullptr;
    float* out = nullptr;
};

struct Problem {
    using Buffers = transpose::Buffers;
    using Id = VariantId;

    std::int64_t rows = 1024, columns = 1024;

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{number<&Problem::rows>("rows", "problem.rows"),
                                         number<&Problem::columns>("columns", "problem.columns")};
        return list;
    }

    /// Every number is read once and written once.
    [[nodiscard]] Cost cost() const { return {.bytes = 8.0 * static_cast<double>(rows * columns)}; }
};

inline constexpr Tolerance kExact{.reason = "moves numbers, computes nothing"};

}  // namespace espalier::transpose
