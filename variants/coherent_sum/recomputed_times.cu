// Travel times computed inside the kernel, anew for every window: the source's program before it kept them (source S,
// figure 3). Only a homogeneous medium has a formula for them. The one here is that of delays=cube, and the delays of
// the problem are not read: the library never chooses it. Receivers lie in constant memory and the
// grid among the kernel's parameters, as where the source computes its travel times. It does not say who computes them:
// every thread for itself, or (staged=1) the threads of a block together, into shared memory.
//
// The trial sources are numbered along x, y and z of the smallest cube that holds them, its nodes 50 m apart; the
// receivers along x and y of the smallest square that holds them, 40 m apart and 500 m above the first layer. Both are
// centred at 0. A delay is what a travel time has more than the least of all, at 5 m a sample, or at as many as the
// span needs, rounded to the nearest sample (harness/bench/families/coherent_sum.cpp makes them).
//
// Coordinates are whole numbers of metres: squares below 2^24 are exact in single precision and their roots rounded
// once, so that a delay is the one of the problem to the sample.

#include <cmath>
#include <string>
#include <vector>

#include "device/kernel.hpp"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

using namespace device;

constexpr int kNodes = 50, kMesh = 40, kAbove = 500;  ///< metres
constexpr float kMetresPerSample = 5;
constexpr std::int64_t kMostReceivers = 7680;  ///< 60 KiB of the 64 that a kernel may name

__constant__ float mesh_in_constant_memory[2 * kMostReceivers];

/// The least number whose `power`-th power is not below `count`.
std::int64_t least_edge(std::int64_t count, int power) {
    std::int64_t edge = 0;
    const auto raised = [&] { return power == 2 ? edge * edge : edge * edge * edge; };
    while (raised() < count) ++edge;
    return edge;
}

/// Coordinate of the i-th of `count` places around 0.
constexpr float centred(std::int64_t i, std::int64_t count, int spacing) {
    return static_cast<float>((2 * i - (count - 1)) * (spacing / 2));
}

struct Node {
    float x, y, z;

    __device__ Node(std::int64_t source, std::int64_t edge)
        : x(centred(source % edge, edge, kNodes)),
          y(centred(source / edge % edge, edge, kNodes)),
          z(static_cast<float>(kAbove + source / edge / edge * kNodes)) {}

    [[nodiscard]] __device__ float metres_to(std::int64_t receiver) const {
        const float dx = x - mesh_in_constant_memory[2 * receiver], dy = y - mesh_in_constant_memory[2 * receiver + 1];
        const float squared = dx * dx + dy * dy + z * z;
        if (squared < 16777216.0F) return sqrtf(squared);
        const double exact = static_cast<double>(dx) * dx + static_cast<double>(dy) * dy + static_cast<double>(z) * z;
        return static_cast<float>(sqrt(exact));
    }
};

/// Distances in metres as the bits of floats, which order as they do where none is negative.
struct Extremes {
    unsigned nearest, farthest;
};

/// From distances to delays.
struct Rule {
    float nearest, metres_per_sample;
    std::int32_t span;

    [[nodiscard]] __device__ std::int32_t delay(float metres) const {
        const auto samples = static_cast<std::int32_t>(lroundf((metres - nearest) / metres_per_sample));
        return samples < span ? samples : span;
    }
};

__device__ Rule rule_of(const Extremes& extremes, std::int64_t span) {
    const float nearest = __uint_as_float(extremes.nearest), range = __uint_as_float(extremes.farthest) - nearest;
    const float least = range / (span > 1 ? static_cast<float>(span) : 1.0F);
    return {nearest, least > kMetresPerSample ? least : kMetresPerSample, static_cast<std::int32_t>(span)};
}

/// A warp for each source.
__global__ void find_extremes(Problem problem, std::int64_t edge, Extremes* extremes) {
    const Node node(blockIdx.x, edge);
    unsigned nearest = 0xFFFFFFFFU, farthest = 0;
    for (std::int64_t r = threadIdx.x; r < problem.receivers; r += blockDim.x) {
        const unsigned metres = __float_as_uint(node.metres_to(r));
        nearest = metres < nearest ? metres : nearest;
        farthest = metres > farthest ? metres : farthest;
    }
    for (unsigned offset = 16; offset > 0; offset /= 2) {
        const unsigned near = __shfl_down_sync(0xFFFFFFFFU, nearest, offset);
        const unsigned far = __shfl_down_sync(0xFFFFFFFFU, farthest, offset);
        nearest = near < nearest ? near : nearest;
        farthest = far > farthest ? far : farthest;
    }
    if (threadIdx.x > 0) return;
    atomicMin(&extremes->nearest, nearest);
    atomicMax(&extremes->farthest, farthest);
}

template <bool staged>
__global__ void sum_with_recomputed_times(Problem problem, Buffers buffers, unsigned long long* peaks,
                                          std::int64_t edge, const Extremes* extremes) {
    const Node node(blockIdx.x, edge);
    const Rule rule = rule_of(*extremes, problem.span);
    const std::int64_t sample = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    const bool inside = sample < problem.samples;
    const float* trace = buffers.traces + sample;
    float sum = 0;
    if constexpr (staged) {
        auto* const delays = dynamic_shared<std::int32_t>();
        for (std::int64_t r = threadIdx.x; r < problem.receivers; r += blockDim.x)
            delays[r] = rule.delay(node.metres_to(r));
        __syncthreads();
        if (inside) sum = sum_over_receivers(problem, trace, delays);
    } else if (inside) {
        for (std::int64_t r = 0; r < problem.receivers; ++r, trace += problem.trace_samples())
            sum += trace[rule.delay(node.metres_to(r))];
    }
    keep(problem, buffers, peaks, blockIdx.x, sample, sum, inside);
}

void copy_mesh(const Problem& problem, Stream stream) {
    const std::int64_t side = least_edge(problem.receivers, 2);
    std::vector<float> mesh(2 * static_cast<std::size_t>(problem.receivers));
    for (std::int64_t r = 0; r < problem.receivers; ++r) {
        mesh[static_cast<std::size_t>(2 * r)] = centred(r % side, side, kMesh);
        mesh[static_cast<std::size_t>(2 * r + 1)] = centred(r / side, side, kMesh);
    }
    copy_to_constant(mesh_in_constant_memory, mesh.data(), mesh.size() * sizeof(float), stream);
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (problem.delays != Delays::cube)
        return Support::no("computes the travel times of one homogeneous medium, not any delays: delays=cube");
    if (problem.receivers > kMostReceivers)
        return Support::no("the coordinates of " + std::to_string(problem.receivers) +
                           " receivers do not fit constant memory, which holds those of " +
                           std::to_string(kMostReceivers));
    return fits_the_grid(problem, configuration["block"]);
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return peak_bytes(problem) + sizeof(Extremes);
}

void launch_sums(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const std::int64_t edge = least_edge(problem.sources, 3);
    auto* const peaks = reinterpret_cast<unsigned long long*>(context.workspace.data());
    auto* const extremes = reinterpret_cast<Extremes*>(context.workspace.data() + peak_bytes(problem));
    const auto sources = static_cast<unsigned>(problem.sources);
    fill(&extremes->nearest, 0xFF, sizeof(unsigned), context.stream);
    fill(&extremes->farthest, 0, sizeof(unsigned), context.stream);
    if (problem.receivers > 0) {
        copy_mesh(problem, context.stream);
        launch(find_extremes, dim3(sources), dim3(32), 0, context.stream, problem, edge, extremes);
    }
    const int block = configuration["block"];
    const dim3 grid(sources, static_cast<unsigned>((problem.samples + block - 1) / block));
    if (configuration["staged"] == 1)
        launch(sum_with_recomputed_times<true>, grid, dim3(static_cast<unsigned>(block)),
               static_cast<std::size_t>(problem.receivers) * sizeof(std::int32_t), context.stream, problem, buffers,
               peaks, edge, extremes);
    else
        launch(sum_with_recomputed_times<false>, grid, dim3(static_cast<unsigned>(block)), 0, context.stream, problem,
               buffers, peaks, edge, extremes);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.sources == 0) return;
    auto* const peaks = reinterpret_cast<unsigned long long*>(context.workspace.data());
    if (problem.output == Coherence::maximum) fill(peaks, 0, peak_bytes(problem), context.stream);
    if (problem.samples > 0) launch_sums(context, problem, buffers, configuration);
    if (problem.output == Coherence::maximum)
        launch(unpack_peaks, dim3(static_cast<unsigned>((problem.sources + 255) / 256)), dim3(256), 0, context.stream,
               peaks, problem.sources, buffers.maximum, buffers.maximum_sample);
}

}  // namespace

Variant<Problem> recomputed_times() {
    return {.role = Role::documented,
            .summary = "travel times computed in the kernel, anew for every window",
            .source = "S fig. 3",
            .limits = "delays=cube; receivers <= 7,680; sources < 2^31, samples <= 65,535 blocks",
            .tolerance = kSinglePrecision,
            .assumes = "it does not read the delays, but computes those of delays=cube",
            .space = {{"block", {256}}, {"staged", {0, 1}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::coherent_sum
