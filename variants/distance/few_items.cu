// Few queries against many points, or few points against many queries, as one reads a matrix once to multiply it by a
// few vectors: nothing is shared between the many, so that tiles only hold it up. A thread has one or four of the many
// items and up to eight of the few in registers; neighbouring threads read neighbouring items, several attributes ahead
// of their use, and what the few hold is the same for all threads of a block: one broadcast read for each value. For
// eight queries or fewer the many are read once, which is the floor.

#include <algorithm>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/attribute_types.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kThreads = 256;
constexpr int kFew = 8;                ///< of the few, at a time
constexpr std::int64_t kMostFew = 64;  ///< the many are read again for every eight: tiles are better beyond

/// The two sets by their sizes, and how far apart their distances lie in the result. Metrics are symmetric.
struct Sets {
    std::int64_t many, few, dims;
    std::int64_t many_stride, few_stride;
    const float *many_values, *few_values;

    Sets(const Problem& problem, const Buffers& buffers)
        : many(std::max(problem.queries, problem.points)),
          few(std::min(problem.queries, problem.points)),
          dims(problem.dims) {
        const bool many_points = problem.points >= problem.queries;
        many_stride = many_points ? problem.queries : 1;
        few_stride = many_points ? 1 : problem.queries;
        many_values = many_points ? buffers.point_values : buffers.query_values;
        few_values = many_points ? buffers.query_values : buffers.point_values;
    }
};

template <Metric metric, Missing missing, int few, int per_thread, class Types>
__global__ void __launch_bounds__(kThreads)
    distances_to_few(Sets sets, const __grid_constant__ Types types, float* result) {
    constexpr int kAhead = per_thread == 1 ? 8 : 4;  // attributes whose values are asked for before the first is used
    const std::int64_t first = std::int64_t{blockIdx.x} * (kThreads * per_thread) + threadIdx.x;
    const std::int64_t first_few = std::int64_t{blockIdx.y} * few;
    // Beyond the last the last one is read again, and nothing is written.
    std::int64_t many_at[per_thread], few_at[few];
#pragma unroll
    for (int i = 0; i < per_thread; ++i) many_at[i] = min(first + i * kThreads, sets.many - 1);
#pragma unroll
    for (int j = 0; j < few; ++j) few_at[j] = min(first_few + j, sets.few - 1);

    Accumulator<metric, missing> sums[per_thread][few] = {};
    const float *many = sets.many_values, *others = sets.few_values;
    const auto add = [&](const float(&values)[per_thread], AttributeType type) {
#pragma unroll
        for (int j = 0; j < few; ++j) {
            const float other = others[few_at[j]];
#pragma unroll
            for (int i = 0; i < per_thread; ++i) sums[i][j].add(other, values[i], type);
        }
        others += sets.few;
    };
    std::int64_t attribute = 0;
    for (; attribute + kAhead <= sets.dims; attribute += kAhead) {
        float values[kAhead][per_thread];
#pragma unroll
        for (int a = 0; a < kAhead; ++a, many += sets.many)
#pragma unroll
            for (int i = 0; i < per_thread; ++i) values[a][i] = many[many_at[i]];
#pragma unroll
        for (int a = 0; a < kAhead; ++a) add(values[a], types[attribute + a]);
    }
    for (; attribute < sets.dims; ++attribute, many += sets.many) {
        float values[per_thread];
#pragma unroll
        for (int i = 0; i < per_thread; ++i) values[i] = many[many_at[i]];
        add(values, types[attribute]);
    }

#pragma unroll
    for (int i = 0; i < per_thread; ++i)
#pragma unroll
        for (int j = 0; j < few; ++j)
            if (first + i * kThreads < sets.many && first_few + j < sets.few)
                result[many_at[i] * sets.many_stride + few_at[j] * sets.few_stride] = sums[i][j].result(sets.dims);
}

template <int few, int per_thread>
void launch_blocks(const Context& context, const Problem& problem, const Buffers& buffers) {
    const Sets sets(problem, buffers);
    constexpr std::int64_t kItems = std::int64_t{kThreads} * per_thread;
    const dim3 blocks(static_cast<unsigned>((sets.many + kItems - 1) / kItems),
                      static_cast<unsigned>((sets.few + few - 1) / few));
    with_metric_and_types(problem, buffers, [&](auto metric, auto missing, auto types) {
        launch(distances_to_few<metric(), missing(), few, per_thread, decltype(types)>, blocks, dim3(kThreads), 0,
               context.stream, sets, types, buffers.result);
    });
}

bool is_one(const Problem& problem) { return std::min(problem.queries, problem.points) == 1; }

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (std::min(problem.queries, problem.points) > kMostFew)
        return Support::no("more than 64 items in both sets: the larger one would be read more than eight times");
    if (configuration["per_thread"] > 1 && !is_one(problem))
        return Support::no("distances to eight items are enough for a thread: one item of the larger set each");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.distances() == 0) return;
    if (!is_one(problem))
        launch_blocks<kFew, 1>(context, problem, buffers);
    else if (configuration["per_thread"] == 4)
        launch_blocks<1, 4>(context, problem, buffers);
    else
        launch_blocks<1, 1>(context, problem, buffers);
}

}  // namespace

Variant<Problem> few_items() {
    return {.role = Role::modern,
            .summary = "the larger set read once past up to eight items of the smaller one in registers",
            .source = "",
            .limits = "at most 64 items in one of the sets",
            .tolerance = kDirectSum,
            .space = {{"per_thread", {1, 4}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
