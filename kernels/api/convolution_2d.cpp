#include "espalier/convolution_2d.hpp"

#include <cmath>

#include "kernels/api/checks.hpp"
#include "kernels/api/run.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/problems/convolution_2d.hpp"

namespace espalier::inline v0 {
namespace {

using convolution_2d::Buffers;
using convolution_2d::Problem;

std::string text(const ImageShape& shape) {
    return std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" + std::to_string(shape.channels);
}

std::optional<Error> invalid_shape(const ImageShape& shape, Border border) {
    if (shape.channels != 1 && shape.channels != 3 && shape.channels != 4)
        return invalid("channels is " + std::to_string(shape.channels) + ": 1, 3 and 4 are supported");
    if (border != Border::zero && border != Border::replicate && border != Border::mirror)
        return invalid("border is none of the enumerators of espalier::Border");
    return invalid_sizes({{"width", shape.width}, {"height", shape.height}, {"channels", shape.channels}});
}

/// Beyond this a sum over pixels of 255 may be infinite or, of both signs, no number; NaN fails, too.
std::optional<Error> invalid_filter(const Filter5x5& filter) {
    constexpr float kMost = 1e36F;
    float sizes = 0;
    for (const float coefficient : filter) sizes += std::abs(coefficient);
    if (sizes < kMost) return std::nullopt;
    return invalid("the filter's coefficients must be finite numbers whose absolute values add up to less than 1e36");
}

std::optional<Error> invalid_images(const ConstImage& image, const Image& result, const Problem& problem) {
    if (image.shape != result.shape)
        return invalid("the image is " + text(image.shape) + ", its result " + text(result.shape) +
                       ": they must have one shape");
    return invalid_arrays({input_array("image.data", image.data, problem.values()),
                           output_array("result.data", result.data, problem.values())});
}

Problem problem_of(const ImageShape& shape, const Filter5x5& filter, Border border) {
    return {shape.width, shape.height, shape.channels, border, convolution_2d::classify(filter)};
}

}  // namespace

Result<void> convolve_2d(const Device& device, const ConstImage& image, const Filter5x5& filter, Border border,
                         const Image& result, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(image.shape, border)) return *error;
        if (auto error = invalid_filter(filter)) return *error;
        const Problem problem = problem_of(image.shape, filter, border);
        if (auto error = invalid_images(image, result, problem)) return *error;
        return run(device, problem, options, [&](Arrays& arrays) -> Buffers {
            return {arrays.input(image.data, problem.values()), arrays.output(result.data, problem.values()), &filter};
        });
    });
}

Result<Explanation> explain_convolve_2d(const Device& device, const ImageShape& shape, const Filter5x5& filter,
                                        Border border, const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_shape(shape, border)) return *error;
        if (auto error = invalid_filter(filter)) return *error;
        return explain(problem_of(shape, filter, border), state_of(device).info, options);
    });
}

}  // namespace espalier::inline v0
