// cpu_avx2_int16 with the whole image converted to 16 bits first: no widening in the inner loop, in return
// for writing and reading an image of twice the size. Source C 1.3.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_avx2_kernels.hpp"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (Support support = supports_avx2(device, configuration["parallel"]); !support) return support;
    return supports_16_bit_sums(problem);
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return static_cast<std::size_t>(problem.values()) * sizeof(std::int16_t);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const int threads = configuration["parallel"] ? context.device.threads : 1;
    correlate_converted<Int16Kernel<std::int16_t>>(problem, buffers, context.workspace, threads);
}

}  // namespace

Variant<Problem> cpu_avx2_int16_preconverted() {
    return {.summary = "cpu_avx2_int16 on an image that was converted to 16 bits first",
            .source = "C 1.3",
            .limits = "AVX2; narrow coefficients; 2 bytes of workspace per value",
            .tolerance = kExact,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::convolution_2d
