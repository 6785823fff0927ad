// One thread per row inserts into a sorted list in shared memory (source K 5.3). Entry j of all the
// block's lists lies together, [j][thread], so that the threads of a warp never meet in a bank, whatever
// entries they are at. The memory of a block limits k x block: 8 at 16 KiB and 256 threads then.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/smallest_k/insertion.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

struct SharedList {
    std::uint32_t* keys;
    std::int32_t* indices;
    std::int64_t stride;

    __device__ std::uint32_t key(std::int64_t j) const { return keys[j * stride]; }
    __device__ void set(std::int64_t j, std::uint32_t key, std::int32_t index) {
        keys[j * stride] = key;
        indices[j * stride] = index;
    }
    __device__ void move(std::int64_t j) {
        keys[(j + 1) * stride] = keys[j * stride];
        indices[(j + 1) * stride] = indices[j * stride];
    }
};

__global__ void insert_rows(Problem problem, const float* distances, float* values, std::int32_t* indices) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= problem.rows) return;
    auto* const keys = dynamic_shared<std::uint32_t>();
    auto* const list_indices = reinterpret_cast<std::int32_t*>(keys + problem.k * blockDim.x);
    SharedList list{keys + threadIdx.x, list_indices + threadIdx.x, blockDim.x};
    insert_row(RowInMemory<float>{distances, problem.rows, row}, problem.columns, problem.k, list);
    for (std::int64_t j = problem.columns; j < problem.k; ++j) list.set(j, kEmptyKey, kNoIndex);
    for (std::int64_t j = 0; j < problem.k; ++j) {
        values[j * problem.rows + row] = value_of(list.key(j));
        indices[j * problem.rows + row] = list.indices[j * list.stride];
    }
}

std::size_t shared_bytes(const Problem& problem, const Configuration& configuration) {
    return static_cast<std::size_t>(problem.k * configuration["block"]) *
           (sizeof(std::uint32_t) + sizeof(std::int32_t));
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    const std::size_t bytes = shared_bytes(problem, configuration);
    if (bytes > device.shared_per_block_optin)
        return Support::no("lists of " + std::to_string(problem.k) + " need " + std::to_string(bytes) +
                           " bytes of shared memory per block, the device has " +
                           std::to_string(device.shared_per_block_optin));
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    const int block = configuration["block"];
    const dim3 grid(static_cast<unsigned>((problem.rows + block - 1) / block));
    launch(insert_rows, grid, dim3(static_cast<unsigned>(block)), shared_bytes(problem, configuration), context.stream,
           problem, buffers.distances, buffers.values, buffers.indices);
}

}  // namespace

Variant<Problem> shared_insertion() {
    return {.summary = "one thread per row, sorted list in shared memory",
            .source = "K 5.3",
            .limits = "8 x k x block bytes of shared memory per block",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"block", {64, 128, 256, 32}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
