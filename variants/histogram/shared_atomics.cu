// Every block counts into 256 bins in shared memory, where atomics are fast and few threads meet, then adds
// each bin to the global one with a single atomic. Source H: 256 threads, two blocks per multiprocessor.

#include "device/kernel.hpp"
#include "variants/histogram/gpu_grid.hpp"

namespace espalier::histogram {
namespace {

using namespace device;

constexpr int kThreads = 256;
static_assert(kThreads == kBins, "a thread clears and adds one bin");

__global__ void count(const std::uint8_t* bytes, std::int64_t size, unsigned long long* counts) {
    auto& bins = shared<unsigned[kBins]>();
    bins[threadIdx.x] = 0;
    __syncthreads();
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < size; i += stride)
        atomicAdd(&bins[bytes[i]], 1U);
    __syncthreads();
    // Many bins stay empty with few or skewed bytes: their atomics are saved.
    if (bins[threadIdx.x] != 0) atomicAdd(&counts[threadIdx.x], static_cast<unsigned long long>(bins[threadIdx.x]));
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    const std::int64_t blocks = blocks_for(problem, device, configuration["blocks_per_sm"], kThreads);
    if (problem.bytes > blocks * std::int64_t{0xFFFFFFFF})
        return Support::no("a block's 32-bit bins could overflow: more than 2^32 - 1 bytes per block");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    fill(buffers.counts, 0, kBins * sizeof(std::uint64_t), context.stream);
    if (problem.bytes == 0) return;
    launch(count, blocks_for(problem, context.device, configuration["blocks_per_sm"], kThreads), kThreads, 0,
           context.stream, buffers.bytes, problem.bytes, reinterpret_cast<unsigned long long*>(buffers.counts));
}

}  // namespace

Variant<Problem> shared_atomics() {
    return {.summary = "256 bins per block in shared memory, one global add per bin",
            .source = "H",
            .limits = "2^32 - 1 bytes per block",
            .tolerance = kExact,
            .space = {{"blocks_per_sm", {2, 8}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::histogram
