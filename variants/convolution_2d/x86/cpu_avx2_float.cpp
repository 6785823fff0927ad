// 8 values at once in single precision: for every tap an unaligned load of 8 bytes, widened and converted
// on the way, and a fused multiply-add. Source C 1.3. Half the values per instruction of the 16-bit
// version and a conversion more, in return for fractional coefficients.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_avx2_kernels.hpp"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (Support support = supports_avx2(device, configuration["parallel"]); !support) return support;
    return supports_float_sums(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const int threads = configuration["parallel"] ? context.device.threads : 1;
    correlate_in_parallel(problem, buffers.image, buffers.result, FloatKernel<std::uint8_t>(problem, *buffers.filter),
                          threads);
}

}  // namespace

Variant<Problem> cpu_avx2_float() {
    return {.summary = "8 values at once in single precision, bytes converted as they are loaded",
            .source = "C 1.3",
            .limits = "AVX2 and FMA; narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,

            .run = run};
}

}  // namespace espalier::convolution_2d
