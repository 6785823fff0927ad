// One thread per row keeps the k best in registers (source K 5.3, fig. 31). Registers have no addresses,
// so k is a compile-time constant and the insertion is fully unrolled: every entry decides for itself
// whether it stays, takes its neighbour's place or takes the new element. Reads coalesce, as neighbouring
// threads walk neighbouring rows of the transposed matrix. k between two instances rounds up to the
// larger: its list holds more than asked for. docs/performance/register-limit.md has the registers that
// each k takes; beyond the last instance they spill.

#include <array>
#include <utility>

#include "device/kernel.hpp"
#include "harness/core/variant.hpp"
#include "variants/smallest_k/insertion.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

template <int k>
struct RegisterList {
    std::uint32_t keys[k];
    std::int32_t indices[k];

    __device__ RegisterList() {
#pragma unroll
        for (int j = 0; j < k; ++j) {
            keys[j] = kEmptyKey;
            indices[j] = kNoIndex;
        }
    }

    __device__ void insert(std::uint32_t key, std::int32_t index) {
        bool before = key < keys[k - 1];
#pragma unroll
        for (int j = k - 1; j > 0; --j) {
            const bool before_previous = key < keys[j - 1];
            keys[j] = before_previous ? keys[j - 1] : before ? key : keys[j];
            indices[j] = before_previous ? indices[j - 1] : before ? index : indices[j];
            before = before_previous;
        }
        keys[0] = before ? key : keys[0];
        indices[0] = before ? index : indices[0];
    }
};

template <int capacity>
__global__ void insert_rows(Problem problem, const float* distances, float* values, std::int32_t* indices) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= problem.rows) return;
    RegisterList<capacity> list;
    float worst = value_of(kEmptyKey);
    const RowInMemory source{distances, problem.rows, row};
#pragma unroll 4
    for (std::int32_t c = 0; c < problem.columns; ++c) {
        const float value = source[c];
        if (!may_come_before(value, worst)) continue;
        list.insert(key_of(value), c);
        worst = value_of(list.keys[capacity - 1]);
    }
#pragma unroll
    for (int j = 0; j < capacity; ++j)
        if (j < problem.k) {
            values[j * problem.rows + row] = value_of(list.keys[j]);
            indices[j * problem.rows + row] = list.indices[j];
        }
}

struct Instance {
    int k;
    void (*kernel)(Problem, const float*, float*, std::int32_t*);
};

template <int... k>
constexpr std::array<Instance, sizeof...(k)> instances(std::integer_sequence<int, k...>) {
    return {{{k, insert_rows<k>}...}};
}

constexpr auto kInstances = instances(std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 21, 24, 28, 32,
                                                            40, 48, 56, 64, 80, 96, 104, 108, 112, 116, 120, 128>{});

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    const int most = kInstances.back().k;
    if (problem.k > most)
        return Support::no("lists of more than " + std::to_string(most) + " do not fit a thread's 255 registers");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    const int block = configuration["block"];
    const dim3 grid(static_cast<unsigned>((problem.rows + block - 1) / block));
    for (const Instance& instance : kInstances)
        if (problem.k <= instance.k)
            return launch(instance.kernel, grid, dim3(static_cast<unsigned>(block)), 0, context.stream, problem,
                          buffers.distances, buffers.values, buffers.indices);
}

}  // namespace

Variant<Problem> register_insertion() {
    return {.summary = "one thread per row, the k best in registers, insertion fully unrolled",
            .source = "K 5.3, fig. 31",
            .limits = "k <= 128",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"block", {256, 128, 64}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
