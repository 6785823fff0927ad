// 16 values at once in 16-bit integers: for every tap an unaligned load of 16 bytes, widened to 16 bits on
// the way, a 16-bit multiply and an add; the sums are packed back with saturation. Source C 1.3.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_avx2_kernels.hpp"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (Support support = supports_avx2(device, configuration["parallel"]); !support) return support;
    return supports_16_bit_sums(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const int threads = configuration["parallel"] ? context.device.threads : 1;
    correlate_in_parallel(problem, buffers.image, buffers.result, Int16Kernel<std::uint8_t>(problem, *buffers.filter),
                          threads);
}

}  // namespace

Variant<Problem> cpu_avx2_int16() {
    return {.summary = "16 values at once in 16-bit integers, bytes widened as they are loaded",
            .source = "C 1.3",
            .limits = "AVX2; narrow coefficients",
            .tolerance = kExact,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,

            .run = run};
}

}  // namespace espalier::convolution_2d
