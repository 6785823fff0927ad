#include "kernels/api/convolution_2d_images.hpp"

#include <string>

namespace espalier {
namespace {

std::string text(const ImageShape& shape) {
    return std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" + std::to_string(shape.channels);
}

}  // namespace

std::optional<Error> unlike(const ConstImage& image, const Image& result) {
    if (!(image.shape == result.shape))
        return invalid("the image is " + text(image.shape) + ", its result " + text(result.shape) +
                       ": they must have one shape");
    if (image.pitch == 0 && result.pitch == 0) return std::nullopt;
    if (auto error = invalid_pitch("image.pitch", image.shape, image.pitch)) return error;
    return invalid_pitch("result.pitch", result.shape, result.pitch);
}

std::optional<Error> other_images(const ConstImage& image, const Image& result, const ImagePair& planned) {
    if (planned.fits(image, result)) return std::nullopt;
    if (auto error = unlike(image, result)) return error;
    return other_sizes({{"width", image.shape.width, planned.shape.width},
                        {"height", image.shape.height, planned.shape.height},
                        {"channels", image.shape.channels, planned.shape.channels},
                        {"image.pitch", planned.pitch(image.pitch), planned.pitch(planned.image_pitch)},
                        {"result.pitch", planned.pitch(result.pitch), planned.pitch(planned.result_pitch)}});
}

}  // namespace espalier
