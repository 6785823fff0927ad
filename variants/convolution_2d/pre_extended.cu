// `global` as the lab has it (source C 1, 2.1): before the kernel the image is extended by two pixels on every side, by
// zeros or by copies of what the border reads there, so that the kernel tests no border; the channel loop is innermost,
// over one sum per channel. Blocks of 16 x 16 threads, and the 32 x 16 and 32 x 32 that the lab tries. Extending is
// part of the run: a pass that reads and writes the image once more. The lab extends on the host, with zeros or edges;
// a mirror costs the same.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_image.cuh"

namespace espalier::convolution_2d {
namespace {

using namespace device;

constexpr int kExtendingThreads = 256;

/// The extended image, row-major like the image.
struct Extended {
    std::uint8_t* bytes;
    std::int64_t width, height, row_bytes;

    Extended(const Problem& problem, std::byte* memory)
        : bytes(reinterpret_cast<std::uint8_t*>(memory)),
          width(problem.width + 2 * kRadius),
          height(problem.height + 2 * kRadius),
          row_bytes(width * problem.channels) {}
    [[nodiscard]] std::int64_t size() const { return height * row_bytes; }
};

/// A thread per byte; the grid's threads stride over images of more.
__global__ void extend(Problem problem, const std::uint8_t* image, Extended extended, std::int64_t bytes) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < bytes; i += stride) {
        const std::int64_t row = i / extended.row_bytes, in_row = i % extended.row_bytes;
        const std::int64_t y = border_index(row - kRadius, problem.height, problem.border);
        const std::int64_t x = border_index(in_row / problem.channels - kRadius, problem.width, problem.border);
        const bool zero = x < 0 || y < 0;
        extended.bytes[i] =
            zero ? std::uint8_t{0} : image[(y * problem.width + x) * problem.channels + in_row % problem.channels];
    }
}

template <int kChannels, class Sum>
__global__ void correlate_extended(Problem problem, Extended extended, std::uint8_t* results, Taps<Sum> taps) {
    const std::int64_t across = (problem.width + blockDim.x - 1) / blockDim.x;
    const std::int64_t x = blockIdx.x % across * blockDim.x + threadIdx.x;
    const std::int64_t y = blockIdx.x / across * blockDim.y + threadIdx.y;
    if (x >= problem.width || y >= problem.height) return;
    const std::uint8_t* source = extended.bytes + y * extended.row_bytes + x * kChannels;
    Sum sums[kChannels] = {};
    for (int i = 0; i < kDiameter; ++i, source += extended.row_bytes)
        for (int j = 0; j < kDiameter; ++j)
            for (int c = 0; c < kChannels; ++c)
                sums[c] += taps.values[i * kDiameter + j] * static_cast<Sum>(source[j * kChannels + c]);
    std::uint8_t* const result = results + (y * problem.width + x) * kChannels;
    for (int c = 0; c < kChannels; ++c) result[c] = saturate(sums[c]);
}

template <class Sum>
void correlate_in(Context& context, const Problem& problem, const Buffers& buffers, const Extended& extended,
                  int threads) {
    const int width = threads == 256 ? 16 : 32;
    with_channels(problem.channels, [&](auto channels) {
        launch(correlate_extended<channels(), Sum>, grid_for(problem, width, threads / width),
               dim3(static_cast<unsigned>(width), static_cast<unsigned>(threads / width)), 0, context.stream, problem,
               extended, buffers.result, Taps<Sum>(*buffers.filter));
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.values() == 0) return;
    const Extended extended(problem, context.workspace.data());
    const std::int64_t blocks = (extended.size() + kExtendingThreads - 1) / kExtendingThreads;
    constexpr std::int64_t kMostBlocks = std::int64_t{1} << 30;
    launch(extend, dim3(static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks)), dim3(kExtendingThreads), 0,
           context.stream, problem, buffers.image, extended, extended.size());
    // 25 products of 16 and 8 bits need at most 29 bits, so 32-bit sums are exact.
    if (problem.coefficients == Coefficients::float32)
        correlate_in<float>(context, problem, buffers, extended, configuration["threads"]);
    else
        correlate_in<std::int32_t>(context, problem, buffers, extended, configuration["threads"]);
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (problem.values() == 0) return 0;
    return static_cast<std::size_t>(Extended(problem, nullptr).size());
}

}  // namespace

Variant<Problem> pre_extended() {
    return {.summary = "global on an image extended by two pixels beforehand, the channel loop innermost",
            .source = "C 1, 2.1",
            .tolerance = kFractionTolerance,
            .space = {{"threads", {256, 512, 1024}}},
            .supports = [](const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); },
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::convolution_2d
