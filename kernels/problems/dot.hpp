#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"
#include "kernels/core/variant.hpp"

/// Inner product of two vectors in single precision (source H, exercise).
namespace espalier::dot {

enum class VariantId : std::uint16_t;

/// Reads `a` and `b`, overwrites the one number at `result`, all three where the device reaches them.
/// No elements give 0. NaN and infinities follow IEEE arithmetic; products and sums beyond the range of a
/// float are infinite or NaN, even where another order of adding would bring them back.
struct Buffers {
    const float* a = nullptr;
    const float* b = nullptr;
    float* result = nullptr;
};

struct Problem {
    using Buffers = dot::Buffers;
    using Id = VariantId;

    std::int64_t elements = std::int64_t{1} << 28;

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{number<&Problem::elements>("elements", "problem.elements")};
        return list;
    }

    /// Both vectors read once; a multiply and an add per element.
    [[nodiscard]] Cost cost() const {
        const double n = static_cast<double>(elements);
        return {.bytes = (2 * n + 1) * sizeof(float), .fp32_ops = 2 * n};
    }
};

// The scale of tolerances is the sum of |a_i b_i|, not the result: products that cancel leave the rounding
// errors of their sum behind, and no order of adding avoids that.

inline constexpr Tolerance kRoundedOnce{
    .relative = 2e-7,
    .reason = "sums in double precision, so that what is left is the rounding of products and result"};

/// For sums whose every number passes through at most kChain additions in single precision, each of which is
/// off by at most 2^-24 of a partial sum, which the scale bounds.
inline constexpr int kChain = 256;
inline constexpr Tolerance kShortChains{
    .relative = 2e-5, .reason = "at most 256 additions in single precision in a row, each off by up to 2^-24"};

/// And then the blocks' sums, one float after another: 8 blocks on each of some hundred multiprocessors.
inline constexpr Tolerance kBlockChain{
    .relative = 1e-4,
    .reason = "256 additions in single precision in a row, then one per block, each off by up to 2^-24"};

}  // namespace espalier::dot
