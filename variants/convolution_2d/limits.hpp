#pragma once

#include "kernels/core/device_info.hpp"
#include "kernels/core/support.hpp"
#include "kernels/problems/convolution_2d.hpp"

/// What several variants decline, and why.
namespace espalier::convolution_2d {

/// `parallel` 1 spreads the rows over all threads, 0 stays on the calling one: waking threads costs more
/// than a small image does. Where there is one thread they are the same.
inline Support supports_avx2(const DeviceInfo& device, int parallel) {
    if (!device.avx2 || !device.fma) return Support::no("needs a processor with AVX2 and FMA");
    if (parallel && device.threads == 1) return Support::no("one hardware thread: the same as parallel=0");
    return Support::yes();
}

/// For sums in 16 bits, which wrap: right if and only if the whole sum fits, whatever the order of adding.
inline Support supports_16_bit_sums(const Problem& problem) {
    if (problem.coefficients == Coefficients::narrow) return Support::yes();
    return Support::no("its sums are 16 bits: needs whole coefficients whose every possible sum fits (narrow)");
}

/// For sums in single precision: exact for narrow, rounded for fractional coefficients. With whole
/// coefficients of 16 bits a partial sum can pass 2^24, beyond which not every whole number is a float.
inline Support supports_float_sums(const Problem& problem) {
    if (problem.coefficients != Coefficients::int16) return Support::yes();
    return Support::no("its sums are single precision, which is not exact for whole coefficients beyond narrow");
}

/// For kernels with 32-bit coordinates; a tile reaches beyond the image by less than 1,024.
inline Support supports_32_bit_coordinates(const Problem& problem) {
    constexpr std::int64_t kLargest = (std::int64_t{1} << 31) - 1024;
    if (problem.width <= kLargest && problem.height <= kLargest) return Support::yes();
    return Support::no("its coordinates are 32 bits: width and height are limited to 2,147,482,624");
}

/// For kernels that count the bytes of a row in 32 bits.
inline Support supports_32_bit_rows(const Problem& problem) {
    if (problem.row_values() <= (std::int64_t{1} << 31) - 1024) return Support::yes();
    return Support::no("it counts the bytes of a row in 32 bits: width x channels is limited to 2,147,482,624");
}

/// For whole sums in 32 bits: no fractional coefficients.
inline Support supports_32_bit_sums(const Problem& problem) {
    if (problem.coefficients != Coefficients::float32) return Support::yes();
    return Support::no("its sums are whole numbers: needs whole coefficients (narrow or int16)");
}

}  // namespace espalier::convolution_2d
