#include <algorithm>
#include <variant>

#include "espalier/c/arrays.h"
#include "kernels/api/c/call.hpp"

using namespace espalier;
using c::call;

namespace {

using Filter = std::variant<Filter3x3, Filter5x5, Filter7x7>;

template <class Sized>
Filter copied(const float* filter) {
    Sized copy;
    std::copy_n(&c::present(filter, "filter"), copy.size(), copy.begin());
    return copy;
}

Filter filter_of(const float* filter, std::int32_t side) {
    if (side == 3) return copied<Filter3x3>(filter);
    if (side == 5) return copied<Filter5x5>(filter);
    if (side == 7) return copied<Filter7x7>(filter);
    throw InvalidCall("side is " + std::to_string(side) + ": filters have a side of 3, 5 or 7");
}

Border border_of(std::int32_t border) { return c::enumerator(border, Border::mirror, "border", "BORDER"); }

/// An image and its result, in memory of the caller's.
struct Images {
    explicit Images(const espalier_image_shape* given, const std::uint8_t* from = nullptr, std::uint8_t* to = nullptr) {
        const auto shape = c::known(given, "shape");
        const ImageShape size{shape.width, shape.height, shape.channels};
        image = {from, size, shape.image_pitch};
        result = {to, size, shape.result_pitch};
    }

    ConstImage image;
    Image result;
};

}  // namespace

espalier_status espalier_convolve_2d(const espalier_device* device, const espalier_image_shape* shape,
                                     const float* filter, std::int32_t side, std::int32_t border,
                                     const std::uint8_t* image, std::uint8_t* result,
                                     const espalier_options* options) noexcept {
    return call([&] {
        const Images images(shape, image, result);
        return std::visit(
            [&](const auto& sized) {
                return convolve_2d(c::device_of(device), images.image, sized, border_of(border), images.result,
                                   c::options_of(options));
            },
            filter_of(filter, side));
    });
}

espalier_status espalier_plan_convolve_2d(const espalier_device* device, const espalier_image_shape* shape,
                                          const float* filter, std::int32_t side, std::int32_t border,
                                          const espalier_options* options, espalier_plan** plan) noexcept {
    return call([&] {
        c::take_place(plan, "plan");
        const Images images(shape);
        return std::visit(
            [&](const auto& sized) {
                return c::give_plan(
                    plan_convolve_2d(c::device_of(device), images.image, sized, border_of(border), images.result,
                                     c::options_of(options), c::plan_options_of(options)),
                    plan);
            },
            filter_of(filter, side));
    });
}

espalier_status espalier_convolve_2d_run(const espalier_plan* plan, const espalier_image_shape* shape,
                                         const std::uint8_t* image, std::uint8_t* result, void* stream, void* workspace,
                                         std::size_t workspace_bytes) noexcept {
    return call([&] {
        const auto& planned = c::plan_of<ConvolutionPlan>(plan, "espalier_plan_convolve_2d()");
        const Images images(shape, image, result);
        return planned.run(images.image, images.result, c::stream_of(stream),
                           c::workspace_of(workspace, workspace_bytes));
    });
}

espalier_status espalier_explain_convolve_2d(const espalier_device* device, const espalier_image_shape* shape,
                                             const float* filter, std::int32_t side, std::int32_t border,
                                             const espalier_options* options, char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        return std::visit(
            [&](const auto& sized) {
                return c::give_text(explain_convolve_2d(c::device_of(device), Images(shape).image.shape, sized,
                                                        border_of(border), c::options_of(options)),
                                    text);
            },
            filter_of(filter, side));
    });
}
