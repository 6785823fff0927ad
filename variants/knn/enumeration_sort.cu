// The experiment of source P: a query's distances to all points, then an enumeration sort of them (each element counts
// those that come before it), either stage on the CPU or on the GPU. The CPU's side is the sequential program that the
// source's speedups are over: one thread, plain loops. The source does not say who votes; here the GPU does, wherever
// the lists come from. Query by query, for the source has one.

#include <algorithm>
#include <string>
#include <vector>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/accumulator.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/staging.cuh"
#include "variants/smallest_k/order.hpp"

namespace espalier::knn {
namespace {

using namespace device;
using smallest_k::key_of;
using smallest_k::value_of;

constexpr unsigned kBlock = 1024;  // the source's

/// A query, the points and its lists, all on one side.
struct OneQuery {
    std::int64_t points, dims, k;
    float* query;
    const float* values;  ///< dims x points
    std::uint32_t* keys;  ///< of the distance to each point: compared as integers, NaN among them
    float* nearest;
    std::int32_t* indices;

    constexpr void measure(std::int64_t point) const {
        distance::Accumulator<Metric::euclidean, Missing::none> sum{};
        for (std::int64_t a = 0; a < dims; ++a) sum.add(query[a], values[a * points + point]);
        keys[point] = key_of(sum.result(dims));
    }

    /// Places beyond the points hold nothing; points beyond k have no place.
    constexpr void place(std::int64_t point) const {
        if (point >= points) {
            if (point < k) nearest[point] = value_of(smallest_k::kEmptyKey), indices[point] = kNoIndex;
            return;
        }
        const std::uint32_t key = keys[point];
        std::int32_t rank = 0;
        for (std::int64_t other = 0; other < point; ++other) rank += keys[other] <= key ? 1 : 0;
        for (std::int64_t other = point + 1; other < points; ++other) rank += keys[other] < key ? 1 : 0;
        if (rank >= k) return;
        nearest[rank] = value_of(key);
        indices[rank] = static_cast<std::int32_t>(point);
    }
};

__global__ void measure_points(OneQuery one) {
    const std::int64_t point = static_cast<std::int64_t>(blockIdx.x) * kBlock + threadIdx.x;
    if (point < one.points) one.measure(point);
}

__global__ void place_points(OneQuery one) { one.place(static_cast<std::int64_t>(blockIdx.x) * kBlock + threadIdx.x); }

unsigned blocks_of(std::int64_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }

/// What the CPU's stages work on.
struct OnCpu {
    std::vector<float> query, nearest;
    std::vector<std::uint32_t> keys;
    std::vector<std::int32_t> indices;

    explicit OnCpu(const Problem& problem)
        : query(static_cast<std::size_t>(problem.dims)),
          nearest(static_cast<std::size_t>(problem.k)),
          keys(static_cast<std::size_t>(problem.points)),
          indices(static_cast<std::size_t>(problem.k)) {}
};

template <class T>
void to_gpu(T* gpu, const std::vector<T>& cpu, Stream stream) {
    if (!cpu.empty()) copy_to_device(gpu, cpu.data(), cpu.size() * sizeof(T), stream);
}

void sort_on_cpu(const OneQuery& gpu, const OneQuery& cpu, OnCpu& memory, bool copied, Stream stream) {
    if (!copied && gpu.points > 0)
        copy_to_host(memory.keys.data(), gpu.keys, memory.keys.size() * sizeof(std::uint32_t), stream);
    synchronize(stream);
    for (std::int64_t i = 0; i < std::max(cpu.points, cpu.k); ++i) cpu.place(i);
    to_gpu(gpu.nearest, memory.nearest, stream);
    to_gpu(gpu.indices, memory.indices, stream);
}

/// Leaves the query's lists on the GPU.
void find_nearest(const OneQuery& gpu, const OneQuery& cpu, OnCpu& memory, const Configuration& configuration,
                  Stream stream) {
    const bool measured_on_gpu = configuration["gpu_distance"] != 0;
    if (!measured_on_gpu)
        for (std::int64_t p = 0; p < cpu.points; ++p) cpu.measure(p);
    else if (gpu.points > 0)
        launch(measure_points, blocks_of(gpu.points), kBlock, 0, stream, gpu);
    if (configuration["gpu_sort"] == 0) return sort_on_cpu(gpu, cpu, memory, !measured_on_gpu, stream);
    if (!measured_on_gpu) to_gpu(gpu.keys, memory.keys, stream);
    if (const auto places = std::max(gpu.points, gpu.k); places > 0)
        launch(place_points, blocks_of(places), kBlock, 0, stream, gpu);
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (problem.metric != Metric::euclidean || problem.missing != Missing::none)
        return Support::no("euclidean without missing values only");
    const double comparisons = static_cast<double>(problem.distances()) * static_cast<double>(problem.points);
    if (configuration["gpu_sort"] == 0 && comparisons > 0x1p34)
        return Support::no("quadratic, on one thread of the CPU: more than 2^34 comparisons");
    if (comparisons > 0x1p38) return Support::no("quadratic: more than 2^38 comparisons");
    return streaming_supports(problem);
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    return ChunkLayout(problem, device, 1).of_the_stages;
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const ChunkLayout layout(problem, context.device, 1);
    if (context.workspace.size() < layout.of_the_stages)
        throw DeviceError("the search needs " + std::to_string(layout.of_the_stages) +
                              " bytes of workspace, given are " + std::to_string(context.workspace.size()),
                          2);
    OnCpu memory(problem);
    std::byte* const workspace = context.workspace.data();
    const OneQuery gpu{.points = problem.points,
                       .dims = problem.dims,
                       .k = problem.k,
                       .query = reinterpret_cast<float*>(workspace + layout.query_values),
                       .values = buffers.point_values,
                       .keys = reinterpret_cast<std::uint32_t*>(workspace + layout.matrix),
                       .nearest = reinterpret_cast<float*>(workspace + layout.distances),
                       .indices = reinterpret_cast<std::int32_t*>(workspace + layout.indices)};
    const OneQuery cpu{.points = problem.points,
                       .dims = problem.dims,
                       .k = problem.k,
                       .query = memory.query.data(),
                       .values = buffers.on_host.point_values,
                       .keys = memory.keys.data(),
                       .nearest = memory.nearest.data(),
                       .indices = memory.indices.data()};
    for (std::int64_t q = 0; q < problem.queries; ++q) {
        gather_on_host(problem, buffers, q, 1, reinterpret_cast<std::byte*>(memory.query.data()));
        to_gpu(gpu.query, memory.query, context.stream);
        find_nearest(gpu, cpu, memory, configuration, context.stream);
        vote_per_query(problem, buffers, {gpu.nearest, gpu.indices, 1, 0, problem.k, problem.vote}, q, context.stream);
        copy_to_host(buffers.on_host.predictions + prediction_bytes(q), predictions_of(buffers) + prediction_bytes(q),
                     prediction_bytes(1), context.stream);
        synchronize(context.stream);
    }
}

}  // namespace

Variant<Problem> enumeration_sort() {
    return {.summary = "distances, then an enumeration sort of all points, each on the CPU's one thread or on the GPU",
            .source = "P1; P 4",
            .limits = "euclidean without missing values; queries_in=host; queries x points^2 <= 2^38, 2^34 on the CPU",
            .tolerance = kPipeline,
            .waits = "part of it runs on the host",
            .space = {{"gpu_distance", {1, 0}}, {"gpu_sort", {1, 0}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
