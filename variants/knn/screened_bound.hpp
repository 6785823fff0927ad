#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

/// What half-precision products can and cannot say of a distance. The proof is in docs/performance/knn-fused.md; here
/// are its constants.
///
/// Attributes are centred and scaled by a power of two, and rounded to halves; none is beyond 2^15.
/// With n = (1 - kept_back(dims)) |x|^2 of a query and m of a point, and the product p of their halves as tensor cores
/// add it up onto -m / 2, the squared distance of the scaled items is at least n - 2 p - absolute_error(dims).
namespace espalier::knn {

/// Attributes per matrix instruction.
inline constexpr std::int32_t kStep = 16;

/// What stands for the value of a point: of one beyond the last, less than any that there is; of one that no bound is
/// known of, more.
inline constexpr float kNoPoint = -0x1p126F, kAlways = 0x1p120F;

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

/// The same where some attributes are in two halves each, the second being of what the first leaves, and three of their
/// four products are taken: the shares of these attributes' squares and of the others', and of all squares alike. The
/// last has a group's part in it.
inline constexpr double kShareOfTwoHalves = 0x1p-20;
constexpr double share_of_one_half() {
    constexpr double kHalf = 0x1.002p-11;
    return 2 * kHalf + kHalf * kHalf;
}
constexpr double share_of_sums(std::int64_t dims) {
    const double instructions = static_cast<double>((dims + kStep - 1) / kStep);
    return 2 * 5.02 * instructions * 0x1p-20 + 0x1p-18 + 0x1p-17 + static_cast<double>(dims + 16) * 0x1p-24;
}
constexpr double absolute_error_of_groups(std::int64_t dims) { return static_cast<double>(dims) * 0x1p-28; }

/// Attributes of so many that are in two halves each: as many as a matrix instruction has room for beside the others.
inline constexpr int kMostInTwoHalves = 7;
constexpr std::int32_t in_two_halves(std::int64_t dims) {
    const std::int64_t room = (dims + kStep - 1) / kStep * kStep - dims;
    return static_cast<std::int32_t>(std::min(dims, room / 2));
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
