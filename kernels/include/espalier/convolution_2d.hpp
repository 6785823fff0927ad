#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/device.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "espalier/export.hpp"
#include "espalier/options.hpp"
#include "espalier/plan.hpp"

namespace espalier::inline v0 {

/// What a filter reads outside the image.
enum class Border {
    zero,       ///< 0
    replicate,  ///< the nearest pixel: aaa|abcd|ddd
    mirror,     ///< reflected without repeating the edge: dcb|abcd|cba
};

/// 5x5 coefficients in row-major order, applied as a correlation (not flipped), origin in the middle.
/// Whole numbers of 16 bits are computed exactly; anything else in single precision. All are finite, and their absolute
/// values add up to less than 1e36, so that no sum over an image is infinite.
using Filter5x5 = std::array<float, 25>;

/// Size of an 8-bit image in pixels, and its interleaved channels: 1, 3 or 4.
struct ImageShape {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 3;

    friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// An image that the caller owns: height x width x channels bytes, row by row without padding.
/// `data` may be null if the image is empty.
struct Image {
    std::uint8_t* data = nullptr;
    ImageShape shape;
};

/// An image to read.
struct ConstImage {
    const std::uint8_t* data = nullptr;
    ImageShape shape;

    ConstImage() = default;
    ConstImage(const std::uint8_t* pixels, ImageShape size) : data(pixels), shape(size) {}
    ConstImage(const Image& image) : data(image.data), shape(image.shape) {}
};

/// result(y, x, c) = saturate(round(sum over dy, dx in -2..2 of filter[(dy+2)*5 + dx+2] * image(y+dy, x+dx, c)))
/// to 0..255, ties rounded to even. With coefficients that are not whole a sum within rounding error of
/// a half may come out as either neighbour; whole ones are exact.
/// The image and the result have the same shape and must not overlap.
/// Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure.
ESPALIER_API Result<void> convolve_2d(const Device& device, const ConstImage& image, const Filter5x5& filter,
                                      Border border, const Image& result, const Options& options = {});

/// One filter for images of one shape.
class ESPALIER_API ConvolutionPlan : public Plan {
public:
    /// Does what `convolve_2d` does.
    Result<void> run(const ConstImage& image, const Image& result, Stream stream = nullptr,
                     std::span<std::byte> workspace = {}) const;

    using Plan::Plan;
};

/// Options: all but `stream` and `wait`. Errors: as of `convolve_2d`.
ESPALIER_API Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ImageShape& shape,
                                                      const Filter5x5& filter, Border border,
                                                      const Options& options = {});

/// What `convolve_2d` would run for an image of this shape, and why. Options: `variant`, `deterministic`, `threads`.
ESPALIER_API Result<Explanation> explain_convolve_2d(const Device& device, const ImageShape& shape,
                                                     const Filter5x5& filter, Border border,
                                                     const Options& options = {});

}  // namespace espalier::inline v0
