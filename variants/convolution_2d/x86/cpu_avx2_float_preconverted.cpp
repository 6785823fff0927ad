// cpu_avx2_float with the whole image converted to single precision first: each byte is converted once
// instead of 25 times, in return for writing and reading an image of four times the size. Source C 1.3.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_avx2_kernels.hpp"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (Support support = supports_avx2(device, configuration["parallel"]); !support) return support;
    return supports_float_sums(problem);
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return static_cast<std::size_t>(problem.values()) * sizeof(float);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const int threads = configuration["parallel"] ? context.device.threads : 1;
    correlate_converted<FloatKernel<float>>(problem, buffers, context.workspace, threads);
}

}  // namespace

Variant<Problem> cpu_avx2_float_preconverted() {
    return {.summary = "cpu_avx2_float on an image that was converted to single precision first",
            .source = "C 1.3",
            .limits = "AVX2 and FMA; narrow or fractional coefficients; 4 bytes of workspace per value",
            .tolerance = kFractionTolerance,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::convolution_2d
