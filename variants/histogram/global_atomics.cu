// One atomic increment in global memory per byte, grid-stride loop. Source H: the starting point, slow
// because all threads of the device meet in 256 counters. Any size: the baseline of GPUs.

#include "device/kernel.hpp"
#include "variants/histogram/gpu_grid.hpp"

namespace espalier::histogram {
namespace {

using namespace device;

constexpr int kThreads = 256;

__global__ void count(const std::uint8_t* bytes, std::int64_t size, unsigned long long* counts) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < size; i += stride)
        atomicAdd(&counts[bytes[i]], 1ULL);
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    fill(buffers.counts, 0, kBins * sizeof(std::uint64_t), context.stream);
    if (problem.bytes == 0) return;
    launch(count, blocks_for(problem, context.device, configuration["blocks_per_sm"], kThreads), kThreads, 0,
           context.stream, buffers.bytes, problem.bytes, reinterpret_cast<unsigned long long*>(buffers.counts));
}

}  // namespace

Variant<Problem> global_atomics() {
    return {.role = Role::baseline,
            .summary = "one atomic increment in global memory per byte",
            .source = "H",
            .tolerance = kExact,
            .space = {{"blocks_per_sm", {8}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::histogram
