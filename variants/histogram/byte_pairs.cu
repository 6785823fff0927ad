// Pairs of bytes are counted, in 65,536 bins of 16 bits that fill 128 KiB of shared memory: half an atomic
// per byte, where atomics in shared memory are what limits histograms. The bins of pairs are added up to
// those of bytes at the end of a block, which makes this one for long inputs.
//
// A bin of 16 bits overflows after 65,535 pairs. Whoever takes one past 32,767 moves 32,768 of it to the bytes'
// 32-bit bins; threads wait for each other every 16,384 pairs of a block, so no bin can gain as many as it
// has room for before that has happened.
//
// Chunks of one value, as in constant inputs, are counted by one atomic.

#include "variants/histogram/gpu_chunks.cuh"

namespace espalier::histogram {
namespace {

using namespace device;

constexpr int kThreads = 1024;
constexpr int kChunksPerThread = 2;                         ///< a round; 8 pairs each
constexpr int kRound = kThreads * kChunksPerThread;         ///< chunks that a block takes at once
constexpr int kWords = 65536 / 2;                           ///< two bins in each
constexpr std::int64_t kBytesPerBlock = 4LL * 16 * kRound;  ///< that make a block worth clearing and adding up
constexpr std::size_t kSharedBytes = kWords * sizeof(unsigned);
constexpr unsigned kHalf = 0x8000;
static_assert(kRound * 8 <= 0x8000, "a bin at 32,767 has room for all pairs between two barriers");

struct Bins {
    unsigned* pairs;
    unsigned* bytes;
};

__device__ void count_pair(const Bins& bins, unsigned pair, unsigned times) {
    const unsigned shift = pair % 2 * 16;
    const unsigned before = atomicAdd(&bins.pairs[pair / 2], times << shift) >> shift & 0xFFFFU;
    if (before < kHalf && before + times >= kHalf) {
        atomicSub(&bins.pairs[pair / 2], kHalf << shift);
        atomicAdd(&bins.bytes[pair % 256], kHalf);
        atomicAdd(&bins.bytes[pair / 256], kHalf);
    }
}

__device__ void count_chunk(const Bins& bins, const uint4& chunk) {
    const unsigned pair = chunk.x & 0xFFFFU;
    if (chunk.x == pair * 0x10001U && chunk.y == chunk.x && chunk.z == chunk.x && chunk.w == chunk.x)
        return count_pair(bins, pair, 8);
    const std::uint32_t words[] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
    for (const std::uint32_t word : words) {
        count_pair(bins, word & 0xFFFFU, 1);
        count_pair(bins, word >> 16, 1);
    }
}

/// Adds the pairs' bins to the bytes'. Word 128 h + c counts pairs with second byte h and first byte 2 c or
/// 2 c + 1: a warp takes whole rows of 128 words, adds up each row, and its lanes keep their columns' sums.
__device__ void add_up(const Bins& bins) {
    constexpr int kRowWords = 128, kColumns = kRowWords / 32;
    const unsigned lane = threadIdx.x % 32;
    unsigned even[kColumns] = {}, odd[kColumns] = {};
    for (unsigned row = threadIdx.x / 32; row < kBins; row += kThreads / 32) {
        unsigned row_sum = 0;
#pragma unroll
        for (unsigned column = 0; column < kColumns; ++column) {
            const unsigned word = bins.pairs[row * kRowWords + 32 * column + lane];
            even[column] += word & 0xFFFFU;
            odd[column] += word >> 16;
            row_sum += (word & 0xFFFFU) + (word >> 16);
        }
        row_sum = __reduce_add_sync(0xFFFFFFFFU, row_sum);
        if (lane == 0) atomicAdd(&bins.bytes[row], row_sum);
    }
#pragma unroll
    for (unsigned column = 0; column < kColumns; ++column) {
        atomicAdd(&bins.bytes[2 * (32 * column + lane)], even[column]);
        atomicAdd(&bins.bytes[2 * (32 * column + lane) + 1], odd[column]);
    }
}

__global__ void __launch_bounds__(kThreads) count(Chunks chunks, unsigned long long* counts) {
    auto& byte_bins = shared<unsigned[kBins]>();
    const Bins bins{dynamic_shared<unsigned>(), byte_bins};
    if (threadIdx.x < kBins) byte_bins[threadIdx.x] = 0;
    auto* const quads = reinterpret_cast<uint4*>(bins.pairs);
    for (unsigned i = threadIdx.x; i < kWords / 4; i += kThreads) quads[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    if (blockIdx.x == 0) chunks.rest(threadIdx.x, [&](std::uint8_t byte) { atomicAdd(&byte_bins[byte], 1U); });

    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kRound;
    std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kRound;
    uint4 now[kChunksPerThread], next[kChunksPerThread] = {};
    const auto load = [&] {
#pragma unroll
        for (int c = 0; c < kChunksPerThread; ++c) {
            const std::int64_t at = first + c * kThreads + threadIdx.x;
            if (at < chunks.chunks) next[c] = chunks[at];
        }
    };
    load();
    while (first < chunks.chunks) {
        const std::int64_t counted = first;
        first += stride;
#pragma unroll
        for (int c = 0; c < kChunksPerThread; ++c) now[c] = next[c];
        load();  // on its way while the last one is counted
#pragma unroll
        for (int c = 0; c < kChunksPerThread; ++c)
            if (counted + c * kThreads + threadIdx.x < chunks.chunks) count_chunk(bins, now[c]);
        __syncthreads();
    }

    add_up(bins);
    __syncthreads();
    if (threadIdx.x < kBins && byte_bins[threadIdx.x] != 0)
        atomicAdd(&counts[threadIdx.x], static_cast<unsigned long long>(byte_bins[threadIdx.x]));
}

unsigned blocks_of(const Problem& problem, const DeviceInfo& device) {
    const std::int64_t worthwhile = (problem.bytes + kBytesPerBlock - 1) / kBytesPerBlock;
    return static_cast<unsigned>(std::min<std::int64_t>(worthwhile, std::max(1, device.sm_count)));
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (device.sm < 80)
        return Support::no("needs compute capability 8.0 for sums over a warp, this is " + std::to_string(device.sm));
    constexpr std::size_t kNeeded = kSharedBytes + kBins * sizeof(unsigned);
    if (device.shared_per_block_optin < kNeeded)
        return Support::no("needs " + std::to_string(kNeeded) + " bytes of shared memory per block, this device has " +
                           std::to_string(device.shared_per_block_optin));
    if (problem.bytes > blocks_of(problem, device) * std::int64_t{0xFFFFFFFF})
        return Support::no("a block's 32-bit bins could overflow: more than 2^32 - 1 bytes per block");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    fill(buffers.counts, 0, kBins * sizeof(std::uint64_t), context.stream);
    if (problem.bytes == 0) return;
    launch(count, blocks_of(problem, context.device), kThreads, kSharedBytes, context.stream, Chunks(buffers, problem),
           reinterpret_cast<unsigned long long*>(buffers.counts));
}

}  // namespace

Variant<Problem> byte_pairs() {
    return {.role = Role::modern,
            .summary = "65,536 bins of 16 bits for pairs of bytes: half an atomic per byte",
            .limits = "compute capability 8.0; 129 KiB of shared memory per block; 2^32 - 1 bytes per block",
            .tolerance = kExact,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::histogram
