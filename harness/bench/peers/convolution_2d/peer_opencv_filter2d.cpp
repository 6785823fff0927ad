// OpenCV's filter2D as it comes with the distribution: its own threads, its own vector instructions, its own borders.
// Sums in single precision, which is exact for narrow coefficients; wider ones are asked for in double precision
// and saturated, as tests/cli/convolve_opencv_test.py does, but that is another operation: not measured.

#include <opencv2/imgproc.hpp>

#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

constexpr int border_of(Border border) {
    return border == Border::zero ? cv::BORDER_CONSTANT
                                  : (border == Border::replicate ? cv::BORDER_REPLICATE : cv::BORDER_REFLECT_101);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    constexpr std::int64_t kLargest = (std::int64_t{1} << 31) - 1;
    if (problem.width > kLargest || problem.height > kLargest)
        return Support::no("its sizes are 32 bits: width and height are limited to 2,147,483,647");
    if (problem.values() == 0) return Support::no("it refuses empty images");
    if (problem.border == Border::mirror && (problem.width < 3 || problem.height < 3))
        return Support::no("it mirrors once only: width and height are at least 3");
    return supports_float_sums(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    cv::setNumThreads(context.device.threads);
    const int height = static_cast<int>(problem.height), width = static_cast<int>(problem.width);
    const int type = CV_8UC(static_cast<int>(problem.channels));
    const cv::Mat image(height, width, type, const_cast<std::uint8_t*>(buffers.image));
    cv::Mat result(height, width, type, buffers.result);
    const cv::Mat filter(kDiameter, kDiameter, CV_32F, const_cast<float*>(buffers.filter->data()));
    cv::filter2D(image, result, -1, filter, {-1, -1}, 0, border_of(problem.border));
}

}  // namespace

Variant<Problem> peer_opencv_filter2d() {
    return {.role = Role::peer,
            .summary = "cv::filter2D of OpenCV " CV_VERSION,
            .source = "OpenCV",
            .limits = "narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
