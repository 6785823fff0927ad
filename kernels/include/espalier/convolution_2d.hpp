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

namespace espalier::inline v1 {

/// The values that a filter reads outside the image.
enum class Border {
    zero,       ///< 0
    replicate,  ///< the nearest pixel: aaa|abcd|ddd
    mirror,     ///< reflected without repeating the edge: dcb|abcd|cba
};

/// 5x5 coefficients in row-major order, applied as a correlation (not flipped), origin in the middle.
/// Whole numbers of 16 bits are computed exactly; anything else in single precision. All are finite, and their absolute
/// values add up to less than 1e36, so that no sum over an image is infinite.
using Filter5x5 = std::array<float, 25>;

/// 3x3 coefficients, applied as those of a `Filter5x5` are.
using Filter3x3 = std::array<float, 9>;
/// 7x7 coefficients, applied as those of a `Filter5x5` are.
using Filter7x7 = std::array<float, 49>;

/// The 5x5 filter that computes what a 3x3 `filter` does, to the last bit: zeros around it.
constexpr Filter5x5 as_5x5(const Filter3x3& filter) {
    Filter5x5 larger{};
    for (std::size_t i = 0; i < filter.size(); ++i) larger[(i / 3 + 1) * 5 + i % 3 + 1] = filter[i];
    return larger;
}

/// Size of an 8-bit image in pixels, and its interleaved channels: 1, 3 or 4.
struct ImageShape {
    std::int64_t width = 0;   ///< pixels of a row
    std::int64_t height = 0;  ///< rows
    int channels = 3;         ///< bytes of a pixel

    /// Whether all sizes are equal.
    friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// An image that the caller owns: height rows of width x channels bytes. `data` may be null if the image is empty.
struct Image {
    std::uint8_t* data = nullptr;  ///< the first row
    ImageShape shape;              ///< its size
    /// Bytes from one row to the next, so that a part of an image, or one with padded rows, is an image; 0 for rows
    /// without gaps. What lies in between is neither read nor written. Filters of 5x5 and 3x3 pay for it by a copy of
    /// the image.
    std::int64_t pitch = 0;
};

/// An image to read.
struct ConstImage {
    const std::uint8_t* data = nullptr;  ///< the first row
    ImageShape shape;                    ///< its size
    std::int64_t pitch = 0;              ///< as that of `Image`

    ConstImage() = default;
    /// `pixels` of an image of that `size`, whose rows lie `row_pitch` bytes apart, 0 for rows without gaps.
    ConstImage(const std::uint8_t* pixels, ImageShape size, std::int64_t row_pitch = 0)
        : data(pixels), shape(size), pitch(row_pitch) {}
    /// The same `image`, to read.
    ConstImage(const Image& image) : data(image.data), shape(image.shape), pitch(image.pitch) {}
};

/// result(y, x, c) = saturate(round(sum over dy, dx in -2..2 of `filter`[(dy+2)*5 + dx+2] * image(y+dy, x+dx, c)))
/// to 0..255, ties rounded to even. With coefficients that are not whole a sum within rounding error of
/// a half may come out as either neighbour; whole ones are exact.
/// `border` gives the values outside of the image. `image` and `result` have the same shape, pitches of their own,
/// and must not overlap; the left and the right half of one image do not.
/// Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure.
ESPALIER_API Result<void> convolve_2d(const Device& device, const ConstImage& image, const Filter5x5& filter,
                                      Border border, const Image& result, const Options& options = {});

/// The same with a 7x7 `filter`, dx and dy in -3..3, on the CPU alone and without variants: products of a column and a
/// row (a Gaussian, a box) are found and take 14 multiplications a value instead of 49. Whole coefficients are computed
/// exactly. Equal calls give equal bits. Its own memory is eight rows of the image per thread, as numbers.
/// Errors: as above; unsupported for a GPU, unknown_variant where `Options::variant` names one.
ESPALIER_API Result<void> convolve_2d(const Device& device, const ConstImage& image, const Filter7x7& filter,
                                      Border border, const Image& result, const Options& options = {});

/// One filter for images of one shape.
class ESPALIER_API ConvolutionPlan : public Plan {
public:
    /// Does what `convolve_2d` does. The images have the pitches that the plan was made for.
    Result<void> run(const ConstImage& image, const Image& result, Stream stream = nullptr,
                     std::span<std::byte> workspace = {}) const;

    using Plan::Plan;
};

/// A plan for `convolve_2d` of images without gaps between their rows. Options: all but `stream`, `wait` and
/// `progress`. Errors: as of `convolve_2d`.
ESPALIER_API Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ImageShape& shape,
                                                      const Filter5x5& filter, Border border,
                                                      const Options& options = {}, const PlanOptions& planning = {});

/// A plan with `filter` and `border` for images of the shapes and pitches of `image` and `result`, which are not read.
ESPALIER_API Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ConstImage& image,
                                                      const Filter5x5& filter, Border border, const Image& result,
                                                      const Options& options = {}, const PlanOptions& planning = {});

/// A plan for `convolve_2d` with a 7x7 filter, which is taken apart once, of images without gaps between their rows.
/// Options: `threads`. Errors: as of that function.
ESPALIER_API Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ImageShape& shape,
                                                      const Filter7x7& filter, Border border,
                                                      const Options& options = {}, const PlanOptions& planning = {});

/// The same for images of the shapes and pitches of `image` and `result`, whose pixels are not read.
ESPALIER_API Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ConstImage& image,
                                                      const Filter7x7& filter, Border border, const Image& result,
                                                      const Options& options = {}, const PlanOptions& planning = {});

/// Explains what `convolve_2d` would run for an image of this shape. Options: `variant`, `deterministic`, `threads`.
ESPALIER_API Result<Explanation> explain_convolve_2d(const Device& device, const ImageShape& shape,
                                                     const Filter5x5& filter, Border border,
                                                     const Options& options = {});

/// The same for `convolve_2d` with a 7x7 filter. `variant` is "rows_7x7", or "rows_7x7_separable" for a product of a
/// column and a row.
ESPALIER_API Result<Explanation> explain_convolve_2d(const Device& device, const ImageShape& shape,
                                                     const Filter7x7& filter, Border border,
                                                     const Options& options = {});

/// `convolve_2d` with a 3x3 filter, which is computed as the 5x5 one that it stands for.
inline Result<void> convolve_2d(const Device& device, const ConstImage& image, const Filter3x3& filter, Border border,
                                const Image& result, const Options& options = {}) {
    return convolve_2d(device, image, as_5x5(filter), border, result, options);
}
/// A plan for `convolve_2d` with a 3x3 filter.
inline Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ImageShape& shape, const Filter3x3& filter,
                                                Border border, const Options& options = {},
                                                const PlanOptions& planning = {}) {
    return plan_convolve_2d(device, shape, as_5x5(filter), border, options, planning);
}
/// A plan for `convolve_2d` with a 3x3 filter of images as `image` and `result`, whose pixels are not read.
inline Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ConstImage& image, const Filter3x3& filter,
                                                Border border, const Image& result, const Options& options = {},
                                                const PlanOptions& planning = {}) {
    return plan_convolve_2d(device, image, as_5x5(filter), border, result, options, planning);
}
/// Explains what `convolve_2d` with a 3x3 filter would run.
inline Result<Explanation> explain_convolve_2d(const Device& device, const ImageShape& shape, const Filter3x3& filter,
                                               Border border, const Options& options = {}) {
    return explain_convolve_2d(device, shape, as_5x5(filter), border, options);
}

}  // namespace espalier::inline v1
