#include "reference_cpu/convolution_2d.hpp"

#include <cmath>

namespace espalier::reference {
namespace {

/// Walks back into 0..size-1 one reflection at a time.
std::int64_t mirrored(std::int64_t i, std::int64_t size) {
    if (size == 1) return 0;
    while (i < 0 || i >= size) i = i < 0 ? -i : 2 * size - 2 - i;
    return i;
}

}  // namespace

std::vector<std::uint8_t> convolution_2d(std::span<const std::uint8_t> image, std::int64_t width, std::int64_t height,
                                         std::int64_t channels, const Filter5x5& filter, Border border) {
    const auto pixel = [&](std::int64_t y, std::int64_t x, std::int64_t c) -> double {
        const bool outside = y < 0 || y >= height || x < 0 || x >= width;
        if (outside && border == Border::zero) return 0;
        if (border == Border::replicate) {
            y = y < 0 ? 0 : (y >= height ? height - 1 : y);
            x = x < 0 ? 0 : (x >= width ? width - 1 : x);
        } else if (border == Border::mirror) {
            y = mirrored(y, height);
            x = mirrored(x, width);
        }
        return image[static_cast<std::size_t>((y * width + x) * channels + c)];
    };
    std::vector<std::uint8_t> result(image.size());
    // Rows are independent, and threads make large images bearable.
#pragma omp parallel for schedule(static) if (image.size() > 1'000'000)
    for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
            for (std::int64_t c = 0; c < channels; ++c) {
                double sum = 0;
                for (int i = 0; i < 25; ++i)
                    sum += static_cast<double>(filter[static_cast<std::size_t>(i)]) *
                           pixel(y + i / 5 - 2, x + i % 5 - 2, c);
                const double rounded = std::rint(sum);
                result[static_cast<std::size_t>((y * width + x) * channels + c)] =
                    static_cast<std::uint8_t>(rounded > 0 ? (rounded > 255 ? 255 : rounded) : 0);  // NaN gives 0
            }
    return result;
}

}  // namespace espalier::reference
