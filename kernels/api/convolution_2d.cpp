#include "espalier/convolution_2d.hpp"

#include <cmath>

#include "kernels/api/convolution_2d_images.hpp"
#include "kernels/api/planning.hpp"
#include "kernels/dispatch/refusal.hpp"
#include "kernels/problems/convolution_2d.hpp"

namespace espalier::inline v1 {
namespace {

using convolution_2d::Buffers;
using convolution_2d::Problem;

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
    [[nodiscard]] ImagePair images() const {
        return {{problem.width, problem.height, static_cast<int>(problem.channels)}, image_pitch, result_pitch};
    }
    [[nodiscard]] Buffers bind(const Pointers<2>& at) const {
        return {static_cast<const std::uint8_t*>(at[0]), static_cast<std::uint8_t*>(at[1]), &filter};
    }
};

Pointers<2> pointers(const ConstImage& image, const Image& result) {
    return {const_cast<std::uint8_t*>(image.data), result.data};
}

struct VariantPlan final : PlanOf<ConvolutionCall, ConvolutionPlanState> {
    using PlanOf::PlanOf;

    [[nodiscard]] Result<void> run(const ConstImage& image, const Image& result, Stream stream,
                                   std::span<std::byte> workspace) const override {
        if (auto error = other_images(image, result, planned.call.images())) return *error;
        return run_planned(planned, pointers(image, result), stream, workspace);
    }
};

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
                                         Border border, const Options& options, const PlanOptions& planning) {
    return plan_convolve_2d(device, {nullptr, shape}, filter, border, {nullptr, shape}, options, planning);
}

Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ConstImage& image, const Filter5x5& filter,
                                         Border border, const Image& result, const Options& options,
                                         const PlanOptions& planning) {
    return guarded([&]() -> Result<ConvolutionPlan> {
        if (auto error = invalid_shape(image.shape, border)) return *error;
        if (auto error = invalid_filter(filter)) return *error;
        if (auto error = unlike(image, result)) return *error;
        return plan_call_as<ConvolutionPlan, VariantPlan>(
            device, ConvolutionCall{problem_of(image.shape, filter, border), filter, image.pitch, result.pitch},
            options, planning);
    });
}

Result<void> ConvolutionPlan::run(const ConstImage& image, const Image& result, Stream stream,
                                  std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        return static_cast<const ConvolutionPlanState&>(planned_state(state())).run(image, result, stream, workspace);
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
