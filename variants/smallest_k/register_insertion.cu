// One thread per row keeps the k best in registers (source K 5.3, fig. 31). Registers have no addresses,
// so k is a compile-time constant and the insertion is fully unrolled: every entry decides for itself
// whether it stays, takes its neighbour's place or takes the new element. Reads coalesce, as neighbouring
// threads walk neighbouring rows of the transposed matrix. k between two instances rounds up to the
// larger: its list holds more than asked for. docs/performance/register-limit.md has the registers that
// each k takes; beyond the last instance they spill. With `texture` the matrix is read through a 1-D
// texture, as the source does where global memory has no cache.

#include <array>
#include <utility>

#include "device/kernel.hpp"
#include "device/texture.hpp"
#include "kernels/core/variant.hpp"
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

/// The matrix in global memory.
struct InMemory {
    const float* distances;
    __device__ float operator[](std::int64_t i) const { return distances[i]; }
};

struct InTexture {
    cudaTextureObject_t object;
    int offset;
    __device__ float operator[](std::int64_t i) const {
        return tex1Dfetch<float>(object, offset + static_cast<int>(i));
    }
};

template <class Matrix, int capacity>
__global__ void insert_rows(Problem problem, Matrix distances, float* values, std::int32_t* indices) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= problem.rows) return;
    RegisterList<capacity> list;
    float worst = value_of(kEmptyKey);
#pragma unroll 4
    for (std::int32_t c = 0; c < problem.columns; ++c) {
        const float value = distances[c * problem.rows + row];
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

template <class Matrix>
using Kernel = void (*)(Problem, Matrix, float*, std::int32_t*);

template <class Matrix>
struct Instance {
    int k;
    Kernel<Matrix> kernel;
};

template <int... k>
using Sizes = std::integer_sequence<int, k...>;
using AllSizes = Sizes<1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 119>;

template <class Matrix, int... k>
constexpr std::array<Instance<Matrix>, sizeof...(k)> instances(Sizes<k...>) {
    return {{{k, insert_rows<Matrix, k>}...}};
}

template <class Matrix>
constexpr auto kInstances = instances<Matrix>(AllSizes{});

template <class Matrix>
void launch_smallest_instance(const Context& context, const Problem& problem, const Buffers& buffers, Matrix distances,
                              int block) {
    const dim3 grid(static_cast<unsigned>((problem.rows + block - 1) / block));
    for (const auto& [k, kernel] : kInstances<Matrix>)
        if (problem.k <= k)
            return launch(kernel, grid, dim3(static_cast<unsigned>(block)), 0, context.stream, problem, distances,
                          buffers.values, buffers.indices);
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    const int most = kInstances<InMemory>.back().k;
    if (problem.k > most)
        return Support::no("lists of more than " + std::to_string(most) + " do not fit a thread's 255 registers");
    if (configuration["texture"] == 1 && problem.elements() > device.texture_1d_linear_floats)
        return Support::no("a matrix of " + std::to_string(problem.elements()) +
                           " elements exceeds the device's 1-D textures of " +
                           std::to_string(device.texture_1d_linear_floats));
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    const int block = configuration["block"];
    if (configuration["texture"] == 0 || problem.columns == 0)
        return launch_smallest_instance(context, problem, buffers, InMemory{buffers.distances}, block);
    // A texture starts at a multiple of 512 bytes: the last one before the matrix, in its own allocation.
    const auto offset = reinterpret_cast<std::uintptr_t>(buffers.distances) % 512 / sizeof(float);
    const Texture1D<float> texture(buffers.distances - offset, problem.elements() + static_cast<std::int64_t>(offset));
    launch_smallest_instance(context, problem, buffers, InTexture{texture.object(), static_cast<int>(offset)}, block);
}

}  // namespace

Variant<Problem> register_insertion() {
    return {.summary = "one thread per row, the k best in registers, insertion fully unrolled",
            .source = "K 5.3, fig. 31",
            .limits = "k <= 119",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"block", {256, 64, 32}}, {"texture", {0, 1}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
