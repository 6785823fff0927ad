// One thread per pixel, 16x16 blocks, every tap read from global memory, coefficients in constant
// memory: the naive kernel (source C 2.1). Neighbouring threads re-read each other's pixels, so it
// lives on the caches and is bound by memory. Any size and border: the baseline of GPUs.

#include "device/kernel.hpp"
#include "harness/core/variant.hpp"
#include "variants/convolution_2d/problem.hpp"

namespace espalier::convolution_2d {
namespace {

using namespace device;

constexpr unsigned kBlock = 16;

/// Kernel parameters live in the constant bank: broadcast to a warp like `__constant__`, but owned by
/// the launch, so that two streams can use two filters at once.
struct Taps {
    float values[kDiameter * kDiameter];
};

template <class Sum>
__global__ void correlate(Problem problem, const std::uint8_t* image, std::uint8_t* result, Taps taps) {
    const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * kBlock + threadIdx.x;
    const std::int64_t y = static_cast<std::int64_t>(blockIdx.y) * kBlock + threadIdx.y;
    if (x >= problem.width || y >= problem.height) return;
    for (std::int64_t c = 0; c < problem.channels; ++c) {
        Sum sum = 0;
        for (int dy = 0; dy < kDiameter; ++dy)
            for (int dx = 0; dx < kDiameter; ++dx) {
                const auto row = border_index(y + dy - kRadius, problem.height, problem.border);
                const auto column = border_index(x + dx - kRadius, problem.width, problem.border);
                if (row < 0 || column < 0) continue;
                sum += static_cast<Sum>(taps.values[dy * kDiameter + dx]) *
                       static_cast<Sum>(image[(row * problem.width + column) * problem.channels + c]);
            }
        if constexpr (std::is_floating_point_v<Sum>) sum = rintf(sum);
        result[(y * problem.width + x) * problem.channels + c] = static_cast<std::uint8_t>(sum < 0     ? 0
                                                                                           : sum > 255 ? 255
                                                                                                       : sum);
    }
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    // 65,535 blocks is the grid's y limit.
    if (problem.height > 65535LL * kBlock) return Support::no("more than 1,048,560 rows exceed the grid's y limit");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.values() == 0) return;
    Taps taps;
    for (int i = 0; i < kDiameter * kDiameter; ++i) taps.values[i] = (*buffers.filter)[static_cast<std::size_t>(i)];
    const dim3 grid(static_cast<unsigned>((problem.width + kBlock - 1) / kBlock),
                    static_cast<unsigned>((problem.height + kBlock - 1) / kBlock));
    const auto kernel = problem.coefficients == Coefficients::float32 ? correlate<float> : correlate<std::int32_t>;
    launch(kernel, grid, dim3(kBlock, kBlock), 0, context.stream, problem, buffers.image, buffers.result, taps);
}

}  // namespace

Variant<Problem> global() {
    return {.role = Role::baseline,
            .summary = "one thread per pixel, taps from global memory, coefficients in constant memory",
            .source = "C 2.1",
            .limits = "height <= 1,048,560",
            .tolerance = {.absolute = 1, .reason = "float coefficients: a sum near .5 may round the other way"},
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
