#include "espalier/convolution_2d.hpp"

#include <cmath>

#include "kernels/api/images.hpp"
#include "kernels/api/planned.hpp"
#include "kernels/dispatch/refusal.hpp"
#include "kernels/problems/convolution_2d.hpp"

namespace espalier::inline v1 {
namespace {

using convolution_2d::Buffers;
using convolution_2d::Problem;

std::string text(const ImageShape& shape) {
    return std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" + std::to_string(shape.channels);
}

std::optional<Error> invalid_shape(const ImageShape& shape, Border border) {
    if (auto refused = refused_channels(shape.channels)) return invalid(std::move(*refused));
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

/// What is wrong with a pair of images whose first has a valid shape.
std::optional<Error> unlike(const ConstImage& image, const Image& result) {
    if (!(image.shape == result.shape))
        return invalid("the image is " + text(image.shape) + ", its result " + text(result.shape) +
                       ": they must have one shape");
    if (image.pitch == 0 && result.pitch == 0) return std::nullopt;
    if (auto error = invalid_pitch("image.pitch", image.shape, image.pitch)) return error;
    return invalid_pitch("result.pitch", result.shape, result.pitch);
}

Problem problem_of(const ImageShape& shape, const Filter5x5& filter, Border border) {
    return {shape.width, shape.height, shape.channels, border, convolution_2d::classify(filter)};
}

struct ConvolutionCall {
    Problem problem;
    Filter5x5 filter;
    std::int64_t image_pitch = 0, result_pitch = 0;

    [[nodiscard]] std::array<ArraySpec, 2> arrays() const {
        return {in_rows(input_of<std::uint8_t>("image.data", problem.values()), problem.height, image_pitch),
                in_rows(output_of<std::uint8_t>("result.data", problem.values()), problem.height, result_pitch)};
    }
    /// Pitches, of which 0 and the length of a row are the same.
    [[nodiscard]] std::int64_t pitch(std::int64_t given) const {
        return given == 0 ? problem.width * problem.channels : given;
    }
    [[nodiscard]] Buffers bind(const Pointers<2>& at) const {
        return {static_cast<const std::uint8_t*>(at[0]), static_cast<std::uint8_t*>(at[1]), &filter};
    }
};

Pointers<2> pointers(const ConstImage& image, const Image& result) {
    return {const_cast<std::uint8_t*>(image.data), result.data};
}

}  // namespace

Result<void> convolve_2d(const Device& device, const ConstImage& image, const Filter5x5& filter, Border border,
                         const Image& result, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(image.shape, border)) return *error;
        if (auto error = invalid_filter(filter)) return *error;
        if (auto error = unlike(image, result)) return *error;
        return call_once(device,
                         ConvolutionCall{problem_of(image.shape, filter, border), filter, image.pitch, result.pitch},
                         pointers(image, result), options);
    });
}

Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ImageShape& shape, const Filter5x5& filter,
                                         Border border, const Options& options) {
    return plan_convolve_2d(device, {nullptr, shape}, filter, border, {nullptr, shape}, options);
}

Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ConstImage& image, const Filter5x5& filter,
                                         Border border, const Image& result, const Options& options) {
    return guarded([&]() -> Result<ConvolutionPlan> {
        if (auto error = invalid_shape(image.shape, border)) return *error;
        if (auto error = invalid_filter(filter)) return *error;
        if (auto error = unlike(image, result)) return *error;
        return plan_call<ConvolutionPlan>(
            device, ConvolutionCall{problem_of(image.shape, filter, border), filter, image.pitch, result.pitch},
            options);
    });
}

Result<void> ConvolutionPlan::run(const ConstImage& image, const Image& result, Stream stream,
                                  std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<ConvolutionCall>(state());
        const ConvolutionCall& call = planned.call;
        if (auto error = unlike(image, result)) return *error;
        if (auto error = other_sizes({{"width", image.shape.width, call.problem.width},
                                      {"height", image.shape.height, call.problem.height},
                                      {"channels", image.shape.channels, call.problem.channels},
                                      {"image.pitch", call.pitch(image.pitch), call.pitch(call.image_pitch)},
                                      {"result.pitch", call.pitch(result.pitch), call.pitch(call.result_pitch)}}))
            return *error;
        return run_planned(planned, pointers(image, result), stream, workspace);
    });
}

Result<Explanation> explain_convolve_2d(const Device& device, const ImageShape& shape, const Filter5x5& filter,
                                        Border border, const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_shape(shape, border)) return *error;
        if (auto error = invalid_filter(filter)) return *error;
        return explain(problem_of(shape, filter, border), state_of(device), options);
    });
}

}  // namespace espalier::inline v1
