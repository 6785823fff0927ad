#include "harness/apps/sessions/image_filter.hpp"

#include <algorithm>
#include <chrono>

#include "harness/base/failure.hpp"
#include "kernels/api/device_state.hpp"

namespace espalier::bench::apps {
namespace {

/// Calls `work` with the filter as the library takes it.
template <class Work>
void with_filter(const io::SquareFilter& filter, Work&& work) {
    if (filter.side == 7)
        work(filter.as_7x7());
    else
        work(filter.as_5x5());
}

io::SquareFilter negated(io::SquareFilter filter) {
    for (float& c : filter.coefficients) c = -c;
    return filter;
}

/// The library saturates sums to 0 to 255. With an offset those below 0 count, too: they are what the negated filter
/// gives. Beyond 255 either way the offset, which is not negative, makes 255 or 0 of any sum.
void add_offset(std::vector<std::uint8_t>& positive, const std::vector<std::uint8_t>& negative, int offset) {
    for (std::size_t i = 0; i < positive.size(); ++i) {
        const int below = negative.empty() ? 0 : negative[i];
        positive[i] = static_cast<std::uint8_t>(std::clamp(positive[i] - below + offset, 0, 255));
    }
}

}  // namespace

FilterRun apply_filter(const Device& device, const std::string& path, io::Image& image, const ImageFilter& how) {
    const ImageShape shape{image.width, image.height, image.channels};
    const Options options{.variant = how.variant};
    FilterRun run;
    with_filter(how.filter, [&](const auto& filter) {
        run.explanation = value_or_fail(explain_convolve_2d(device, shape, filter, how.border, options));
    });
    const auto convolve = [&](const io::SquareFilter& square, io::Image& result) {
        with_filter(square, [&](const auto& filter) {
            succeed_or_fail(convolve_2d(device, ConstImage(image.pixels.data(), shape), filter, how.border,
                                        Image{result.pixels.data(), shape}, options));
        });
    };
    io::Image result = io::allocate_image(path, image.width, image.height, image.channels);
    const bool signs = how.offset != 0 && std::ranges::any_of(how.filter.coefficients, [](float c) { return c < 0; });
    io::Image negative;
    if (signs) negative = io::allocate_image(path, image.width, image.height, image.channels);
    const auto start = std::chrono::steady_clock::now();
    convolve(how.filter, result);
    if (signs) convolve(negated(how.filter), negative);
    if (how.offset != 0) add_offset(result.pixels, negative.pixels, how.offset);
    if (image.channels == 4 && how.weigh_by_alpha)
        run.weighed_pixels = weigh_by_alpha(image, how, state_of(Device::cpu()).info.threads, result);
    run.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    // Filtered by Laplace, say, transparency would hide the result.
    for (std::size_t alpha = 3; image.channels == 4 && alpha < result.pixels.size(); alpha += 4)
        result.pixels[alpha] = image.pixels[alpha];
    image.pixels = std::move(result.pixels);
    return run;
}

}  // namespace espalier::bench::apps
