// One thread per row inserts into a sorted list in local memory, with k known at run time: what remains
// where the list no longer fits the registers (source K 5.3). Local memory is global memory interleaved by
// thread and cached, but it is set aside for every thread that the device could hold at once, hence the
// few capacities instead of one of 1,024.

#include <array>
#include <utility>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/smallest_k/insertion.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

template <int capacity>
struct LocalList {
    std::uint32_t keys[capacity];
    std::int32_t indices[capacity];

    __device__ std::uint32_t key(std::int64_t j) const { return keys[j]; }
    __device__ void set(std::int64_t j, std::uint32_t key, std::int32_t index) {
        keys[j] = key;
        indices[j] = index;
    }
    __device__ void move(std::int64_t j) {
        keys[j + 1] = keys[j];
        indices[j + 1] = indices[j];
    }
};

template <int capacity>
__global__ void insert_rows(Problem problem, const float* distances, float* values, std::int32_t* indices) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= problem.rows) return;
    LocalList<capacity> list;
    insert_row(RowInMemory<float>{distances, problem.rows, row}, problem.columns, problem.k, list);
    for (std::int64_t j = problem.columns; j < problem.k; ++j) list.set(j, kEmptyKey, kNoIndex);
    for (std::int64_t j = 0; j < problem.k; ++j) {
        values[j * problem.rows + row] = value_of(list.keys[j]);
        indices[j * problem.rows + row] = list.indices[j];
    }
}

struct Instance {
    int capacity;
    void (*kernel)(Problem, const float*, float*, std::int32_t*);
};

template <int... capacity>
constexpr std::array<Instance, sizeof...(capacity)> instances(std::integer_sequence<int, capacity...>) {
    return {{{capacity, insert_rows<capacity>}...}};
}

constexpr auto kInstances = instances(std::integer_sequence<int, 16, 32, 64, 128, 256, 512, 1024>{});

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (problem.k > kMaxSmallestK) return Support::no("k above 1,024");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    const int block = configuration["block"];
    const dim3 grid(static_cast<unsigned>((problem.rows + block - 1) / block));
    for (const Instance& instance : kInstances)
        if (problem.k <= instance.capacity)
            return launch(instance.kernel, grid, dim3(static_cast<unsigned>(block)), 0, context.stream, problem,
                          buffers.distances, buffers.values, buffers.indices);
}

}  // namespace

Variant<Problem> local_insertion() {
    return {.summary = "one thread per row, sorted list in local memory, k at run time",
            .source = "K 5.3",
            .limits = "k <= 1,024",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"block", {256, 64}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
