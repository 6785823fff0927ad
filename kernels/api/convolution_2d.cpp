#include "espalier/convolution_2d.hpp"

#include <cmath>

#include "kernels/api/planned.hpp"
#include "kernels/dispatch/refusal.hpp"
#include "kernels/problems/convolution_2d.hpp"

namespace espalier::inline v0 {
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

std::optional<Error> unlike(const ConstImage& image, const Image& result) {
    if (image.shape == result.shape) return std::nullopt;
    return invalid("the image is " + text(image.shape) + ", its result " + text(result.shape) +
                   ": they must have one shape");
}

Problem problem_of(const ImageShape& shape, const Filter5x5& filter, Border border) {
    return {shape.width, shape.height, shape.channels, border, convolution_2d::classify(filter)};
}

struct ConvolutionCall {
    Problem problem;
    Filter5x5 filter;

    [[nodiscard]] std::array<ArraySpec, 2> arrays() const {
        return {input_of<std::uint8_t>("image.data", problem.values()),
                output_of<std::uint8_t>("result.data", problem.values())};
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
        return call_once(device, ConvolutionCall{problem_of(image.shape, filter, border), filter},
                         pointers(image, result), options);
    });
}

Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ImageShape& shape, const Filter5x5& filter,
                                         Border border, const Options& options) {
    return guarded([&]() -> Result<ConvolutionPlan> {
        if (auto error = invalid_shape(shape, border)) return *error;
        if (auto error = invalid_filter(filter)) return *error;
        return plan_call<ConvolutionPlan>(device, ConvolutionCall{problem_of(shape, filter, border), filter}, options);
    });
}

Result<void> ConvolutionPlan::run(const ConstImage& image, const Image& result, Stream stream,
                                  std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<ConvolutionCall>(state());
        const Problem& problem = planned.call.problem;
        if (auto error = unlike(image, result)) return *error;
        if (auto error = other_sizes({{"width", image.shape.width, problem.width},
                                      {"height", image.shape.height, problem.height},
                                      {"channels", image.shape.channels, problem.channels}}))
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

}  // namespace espalier::inline v0
