// A copy of the bins for each lane of a warp, in 32 KiB of shared memory: bin b of lane l is word 32 b + l and
// so in bank l, whatever the bytes are. No two lanes of a warp ever meet, neither in an address nor in a
// bank; skewed and constant bytes cost what uniform ones do. Bytes are read 16 at a time.
// One atomic per byte remains, and a multiprocessor does about 13.5 of them per clock: see byte_pairs.

#include "variants/histogram/gpu_chunks.cuh"
#include "variants/histogram/gpu_grid.hpp"

namespace espalier::histogram {
namespace {

using namespace device;

constexpr int kThreads = 512;
constexpr int kReplicas = 32;
/// For which a block is worth its flush: a chunk for every thread. With four chunks, and so a quarter of the blocks, 32
/// to 512 KiB take 1.3 times as long on an H200.
constexpr std::int64_t kBytesPerBlock = std::int64_t{kThreads} * 16;

__device__ void count_word(unsigned* lane_bins, std::uint32_t word) {
#pragma unroll
    for (int b = 0; b < 4; ++b) atomicAdd(&lane_bins[(word >> (8 * b) & 0xFFU) * kReplicas], 1U);
}

__global__ void __launch_bounds__(kThreads) count(Chunks chunks, unsigned long long* counts) {
    auto& bins = shared<unsigned[kBins * kReplicas]>();
    for (unsigned i = threadIdx.x; i < kBins * kReplicas; i += kThreads) bins[i] = 0;
    __syncthreads();

    unsigned* const lane_bins = bins + threadIdx.x % kReplicas;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
#pragma unroll 2
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < chunks.chunks;
         i += stride) {
        const uint4 chunk = chunks[i];
        count_word(lane_bins, chunk.x);
        count_word(lane_bins, chunk.y);
        count_word(lane_bins, chunk.z);
        count_word(lane_bins, chunk.w);
    }
    if (blockIdx.x == 0)
        chunks.rest(threadIdx.x, [&](std::uint8_t byte) { atomicAdd(&lane_bins[byte * kReplicas], 1U); });
    __syncthreads();

    if (threadIdx.x >= kBins) return;
    // Each thread adds up one bin; starting at a bank of its own it meets no other.
    unsigned long long total = 0;
#pragma unroll 8
    for (unsigned i = 0; i < kReplicas; ++i) total += bins[threadIdx.x * kReplicas + (threadIdx.x + i) % kReplicas];
    if (total != 0) atomicAdd(&counts[threadIdx.x], total);
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    const std::int64_t blocks = blocks_for(problem, device, configuration["blocks_per_sm"], kBytesPerBlock);
    if (problem.bytes > blocks * std::int64_t{0xFFFFFFFF})
        return Support::no("a block's 32-bit bins could overflow: more than 2^32 - 1 bytes per block");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    fill(buffers.counts, 0, kBins * sizeof(std::uint64_t), context.stream);
    if (problem.bytes == 0) return;
    launch(count, blocks_for(problem, context.device, configuration["blocks_per_sm"], kBytesPerBlock), kThreads, 0,
           context.stream, Chunks(buffers, problem), reinterpret_cast<unsigned long long*>(buffers.counts));
}

}  // namespace

Variant<Problem> lane_replicas() {
    return {.role = Role::modern,
            .summary = "bins for every lane in a bank of their own, 16-byte loads",
            .limits = "2^32 - 1 bytes per block",
            .tolerance = kExact,
            .space = {{"blocks_per_sm", {4, 2, 1}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::histogram
