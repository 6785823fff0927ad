#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "espalier/convolution_2d.hpp"
#include "kernels/api/checks.hpp"
#include "kernels/api/planned.hpp"

namespace espalier {

/// Says what is wrong with the pitch of an image of a valid shape.
inline std::optional<Error> invalid_pitch(std::string_view name, const ImageShape& shape, std::int64_t pitch) {
    return invalid_stride({.name = name,
                           .of = "a row",
                           .given = pitch,
                           .rows = shape.height,
                           .row = shape.width * shape.channels,
                           .unit = "bytes"});
}

/// Says what is wrong with a pair of images whose first has a valid shape.
std::optional<Error> unlike(const ConstImage& image, const Image& result);

/// Two images of one shape as a call has them, or a plan was made for them.
struct ImagePair {
    ImageShape shape;
    std::int64_t image_pitch = 0, result_pitch = 0;

    /// Whether these are images as they were given when the plan was made.
    [[nodiscard]] bool fits(const ConstImage& image, const Image& result) const {
        return image.shape == shape && result.shape == shape && image.pitch == image_pitch &&
               result.pitch == result_pitch;
    }

    /// Bytes from one row to the next: 0 stands for the length of a row.
    [[nodiscard]] std::int64_t pitch(std::int64_t given) const {
        return given == 0 ? shape.width * shape.channels : given;
    }
};

/// Says what is wrong with a pair of images that is not the one planned for.
std::optional<Error> other_images(const ConstImage& image, const Image& result, const ImagePair& planned);

/// The contents of a ConvolutionPlan: a variant for filters of 5x5, or how one of 7x7 is computed.
inline namespace v1 {
struct ConvolutionPlanState : PlanState {
    using PlanState::PlanState;
    /// Throws nothing but what `guarded` knows.
    [[nodiscard]] virtual Result<void> run(const ConstImage& image, const Image& result, Stream stream,
                                           std::span<std::byte> workspace) const = 0;
};
}  // namespace v1

}  // namespace espalier
