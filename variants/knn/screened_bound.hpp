#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

/// What half-precision products can and cannot say of a distance. The proof is in docs/performance/knn-fused.md; here
/// are its constants.
///
/// Attributes are centred and scaled by a power of two, so that the largest is in [2^14, 2^15), and rounded to halves.
/// With n = (1 - kept_back(dims)) |x|^2 of a query and m of a point, and the product p of their halves as tensor cores
/// add it up onto -m / 2, the squared distance of the scaled items is at least n - 2 p - absolute_error(dims).
namespace espalier::knn {

/// Attributes per matrix instruction.
inline constexpr std::int32_t kStep = 16;

/// The share of the squared norms that covers every relative error: of two roundings to halves, of the instructions'
/// sums (each at most 40 units in the last place of single precision off), of the norms and of the final sum.
constexpr double kept_back(std::int64_t dims) {
    constexpr double kHalf = 0x1.002p-11;
    const double instructions = static_cast<double>((dims + kStep - 1) / kStep);
    return 2 * kHalf + kHalf * kHalf + 2 * 5.01 * instructions * 0x1p-20 + 0x1p-14 + 0x1p-17 +
           static_cast<double>(dims + 16) * 0x1p-24;
}

/// What rounds to subnormal halves is off by up to 2^-25 each; in squares of scaled attributes.
constexpr double absolute_error(std::int64_t dims) { return static_cast<double>(dims) * 0x1p-32; }

/// By how much the value of a point (p less half its norm m, negated) has to be above another's for its distance to be
/// above the other's in single precision, too: as a share of the sum of the norms n and m. Twice the errors of both in
/// halves, and some for the distances' own roundings.
constexpr double margin_of_norms(std::int64_t dims) {
    return 1.01 * (kept_back(dims) + static_cast<double>(2 * dims + 32) * 0x1p-23);
}

/// The power of two that scales attributes up to the one of these bits, and the number itself. Data so small that it
/// cannot be scaled stays small, and the bounds say nothing.
constexpr int scale_exponent(std::uint32_t bits_of_largest) {
    const int exponent = static_cast<int>(bits_of_largest >> 23) - 127;
    return std::clamp(14 - exponent, -113, 100);
}
constexpr float power_of_two(int exponent) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// Whether a point's distance, as single precision computes it term by term, is above every one whose sum of squares is
/// `sum`, if the scaled items' squared distance is at least `least`.
constexpr bool surely_above(double least, double sum, double scale, std::int64_t dims) {
    const double terms = static_cast<double>(dims);
    return least / scale / scale * (1 - (terms + 4) * 0x1p-24) - terms * 0x1p-148 > sum;
}

}  // namespace espalier::knn
