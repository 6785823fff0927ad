#include "espalier/convolution_2d.hpp"

#include <functional>
#include <limits>

#include "kernels/explain.hpp"
#include "kernels/run.hpp"
#include "variants/convolution_2d/problem.hpp"

namespace espalier {
namespace {

using convolution_2d::Buffers;
using convolution_2d::Problem;

std::string text(const ImageShape& shape) {
    return std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" + std::to_string(shape.channels);
}

std::optional<Error> invalid_shape(const ImageShape& shape, Border border) {
    const auto& [width, height, channels] = shape;
    if (width < 0 || height < 0) return invalid("the image is " + text(shape) + ": no size may be negative");
    if (channels != 1 && channels != 3 && channels != 4)
        return invalid("the image has " + std::to_string(channels) + " channels: 1, 3 and 4 are supported");
    // Room for index arithmetic a filter's radius beyond the last value.
    constexpr std::int64_t kMaxValues = std::numeric_limits<std::int64_t>::max() / 16;
    if (height > 0 && width > kMaxValues / height / channels)
        return invalid("the image is " + text(shape) + ": more values than memory can hold");
    if (border != Border::zero && border != Border::replicate && border != Border::mirror)
        return invalid("border is not one of the enumerators of espalier::Border");
    return std::nullopt;
}

std::optional<Error> invalid_images(const ConstImage& image, const Image& result, std::int64_t values) {
    if (image.shape != result.shape)
        return invalid("the image is " + text(image.shape) + ", its result " + text(result.shape) +
                       ": they must have one shape");
    if (values == 0) return std::nullopt;
    if (!image.data) return invalid("image.data is null");
    if (!result.data) return invalid("result.data is null");
    const std::less<const std::uint8_t*> before;
    if (before(image.data, result.data + values) && before(result.data, image.data + values))
        return invalid("the image and its result overlap: filter into other memory");
    return std::nullopt;
}

Problem problem_of(const ImageShape& shape, const Filter5x5& filter, Border border) {
    return {shape.width, shape.height, shape.channels, border, convolution_2d::classify(filter)};
}

}  // namespace

Result<void> convolve_2d(const Device& device, const ConstImage& image, const Filter5x5& filter, Border border,
                         const Image& result, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(image.shape, border)) return *error;
        const Problem problem = problem_of(image.shape, filter, border);
        if (auto error = invalid_images(image, result, problem.values())) return *error;
        const auto values = static_cast<std::size_t>(problem.values());
        return run(device, problem, options, [&](Arrays& arrays) -> Buffers {
            return {arrays.input(image.data, values), arrays.output(result.data, values), &filter};
        });
    });
}

Result<Explanation> explain_convolve_2d(const Device& device, const ImageShape& shape, const Filter5x5& filter,
                                        Border border, std::string_view variant) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_shape(shape, border)) return *error;
        return explain(problem_of(shape, filter, border), state_of(device).info, variant);
    });
}

}  // namespace espalier
