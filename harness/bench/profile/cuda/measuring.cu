// harness/bench/profile/ceilings.hpp, and of timeline.hpp NVTX, on real GPUs.

#include <nvtx3/nvToolsExt.h>

#include <algorithm>

#include "device/kernel.hpp"
#include "harness/bench/profile/ceilings.hpp"
#include "harness/bench/profile/timeline.hpp"

namespace espalier::device {
namespace {

constexpr unsigned kBlock = 256;
constexpr int kArithmeticSteps = 4096;
constexpr int kChains = 8;  // independent per thread: more than the pipe's latency of 4 needs

__global__ void nothing() {}

__global__ void copy(const uint4* from, uint4* to, std::size_t count) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
        to[i] = from[i];
}

/// `passes` over the same data: one for main memory, many for the L2.
__global__ void read(const uint4* from, unsigned* sink, std::size_t count, int passes) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    uint4 sum{};
    for (int pass = 0; pass < passes; ++pass)
        for (std::size_t i = first; i < count; i += stride) {
            const uint4 v = __ldcg(from + i);  // cached in L2 only
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        }
    if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 0x5EED5EED && sink) *sink = sum.x;  // keeps the loads
}

__global__ void multiply_add(float factor, float* sink) {
    float chain[kChains];
    for (int c = 0; c < kChains; ++c) chain[c] = static_cast<float>(threadIdx.x + static_cast<unsigned>(c));
    for (int step = 0; step < kArithmeticSteps; ++step)
#pragma unroll
        for (int c = 0; c < kChains; ++c) chain[c] = fmaf(chain[c], factor, 1.0F);
    float sum = 0;
    for (int c = 0; c < kChains; ++c) sum += chain[c];
    if (sum == 0.125F) *sink = sum;
}

/// dp4a: four 8-bit products and their sum in one instruction, the fastest integer path of the SM's
/// scalar pipes.
__global__ void dot_bytes(int factor, int* sink) {
    int chain[kChains];
    for (int c = 0; c < kChains; ++c) chain[c] = static_cast<int>(threadIdx.x) + c;
    for (int step = 0; step < kArithmeticSteps; ++step)
#pragma unroll
        for (int c = 0; c < kChains; ++c) chain[c] = __dp4a(chain[c], factor, chain[c]);
    int sum = 0;
    for (int c = 0; c < kChains; ++c) sum += chain[c];
    if (sum == 0x5EED5EED) *sink = sum;
}

/// Best of several runs, in seconds: a ceiling is what the device can do, not what it does on average.
template <class Enqueue>
double best_seconds(Enqueue enqueue) {
    Event start, stop;
    double best = 0;
    for (int run = 0; run < 8; ++run) {
        start.record();
        enqueue();
        stop.record();
        stop.wait_for();
        const double seconds = stop.nanoseconds_since(start) * 1e-9;
        if (run == 1 || (run > 1 && seconds < best)) best = seconds;  // run 0 warms up
    }
    return best;
}

double memory_rate(unsigned blocks, unsigned* sink) {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    const std::size_t bytes = std::min<std::size_t>(std::size_t{1} << 30, free / 4) / sizeof(uint4) * sizeof(uint4);
    const Buffer from(bytes), to(bytes);
    fill(from.data(), 1, bytes);
    const std::size_t count = bytes / sizeof(uint4);
    const double copying = best_seconds(
        [&] { launch(copy, dim3(blocks), dim3(kBlock), 0, nullptr, from.as<const uint4>(), to.as<uint4>(), count); });
    const double reading = best_seconds(
        [&] { launch(read, dim3(blocks), dim3(kBlock), 0, nullptr, from.as<const uint4>(), sink, count, 1); });
    return std::max(2.0 * static_cast<double>(bytes) / copying, static_cast<double>(bytes) / reading);
}

double cache_rate(unsigned blocks, unsigned* sink, int l2_bytes) {
    const std::size_t bytes = static_cast<std::size_t>(l2_bytes) / 4 / sizeof(uint4) * sizeof(uint4);
    if (bytes == 0) return 0;
    const Buffer from(bytes);
    fill(from.data(), 1, bytes);
    constexpr int kPasses = 64;
    const double seconds = best_seconds([&] {
        launch(read, dim3(blocks), dim3(kBlock), 0, nullptr, from.as<const uint4>(), sink, bytes / sizeof(uint4),
               kPasses);
    });
    return static_cast<double>(bytes) * kPasses / seconds;
}

std::string dotted(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

}  // namespace

Ceilings measure_gpu_ceilings() {
    int device = 0, multiprocessors = 0, l2_bytes = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
    check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
    const unsigned blocks = static_cast<unsigned>(multiprocessors) * 8;  // fills every SM: 2,048 threads
    const Buffer sink(sizeof(int));
    const double steps = static_cast<double>(blocks) * kBlock * kChains * kArithmeticSteps;
    Ceilings ceilings;
    ceilings.bytes = memory_rate(blocks, sink.as<unsigned>());
    ceilings.cached_bytes = cache_rate(blocks, sink.as<unsigned>(), l2_bytes);
    ceilings.fp32 = 2 * steps / best_seconds([&] {
                        launch(multiply_add, dim3(blocks), dim3(kBlock), 0, nullptr, 0.999F, sink.as<float>());
                    });
    ceilings.integer = 8 * steps / best_seconds([&] {
                           launch(dot_bytes, dim3(blocks), dim3(kBlock), 0, nullptr, 0x01020304, sink.as<int>());
                       });
    return ceilings;
}

void read_through(const void* data, std::size_t bytes) {
    constexpr unsigned kBlocks = 1024;
    launch(read, dim3(kBlocks), dim3(kBlock), 0, nullptr, static_cast<const uint4*>(data),
           static_cast<unsigned*>(nullptr), bytes / sizeof(uint4), 1);
}

void launch_nothing() { launch(nothing, dim3(1), dim3(1), 0, nullptr); }

std::string gpu_runtime_version() {
    int version = 0;
    check(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
    return "CUDA " + dotted(version);
}

std::string gpu_driver_version() {
    int version = 0;
    check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
    return "CUDA driver " + dotted(version);
}

void push_nvtx_range(const char* name) { nvtxRangePushA(name); }
void pop_nvtx_range() { nvtxRangePop(); }
void mark_nvtx(const char* name) { nvtxMarkA(name); }

}  // namespace espalier::device
