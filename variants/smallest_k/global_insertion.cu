// One thread per row inserts into a sorted list in global memory, which is the output itself (source K
// 3.2.1, after Garcia, who used the head of the distance matrix). Neighbouring threads' lists interleave,
// so that their accesses coalesce while the threads agree on the place. Any k, any type of numbers: the baseline of
// GPUs. Of row-major arrays every thread walks a row of its own, which is right and slow.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/smallest_k/insertion.cuh"
#include "variants/smallest_k/typed_keys.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

/// The list of one row in the output arrays.
template <class T>
struct GlobalList {
    T* values;
    std::int32_t* indices;
    std::int64_t stride;

    __device__ std::uint32_t key(std::int64_t j) const { return key_of(loaded(values[j * stride])); }
    __device__ void set(std::int64_t j, std::uint32_t key, std::int32_t index) {
        values[j * stride] = to_store<T>(value_as<Compared<T>>(key));
        indices[j * stride] = index;
    }
    __device__ void move(std::int64_t j) {
        values[(j + 1) * stride] = values[j * stride];
        indices[(j + 1) * stride] = indices[j * stride];
    }
};

template <class T>
__global__ void insert_rows(Problem problem, const T* distances, T* values, std::int32_t* indices) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= problem.rows) return;
    const std::int64_t first = problem.result_at(row, 0);
    GlobalList<T> list{values + first, indices + first, problem.result_at(0, 1)};
    insert_row(RowInMemory<T>{distances + problem.at(row, 0), problem.at(0, 1), 0}, problem.columns, problem.k, list);
    for (std::int64_t j = problem.columns; j < problem.k; ++j) list.set(j, kEmptyKey, kNoIndex);
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    const int block = configuration["block"];
    const dim3 grid(static_cast<unsigned>((problem.rows + block - 1) / block));
    with_key_type(problem.keys, [&]<class T>(std::type_identity<T>) {
        launch(insert_rows<T>, grid, dim3(static_cast<unsigned>(block)), 0, context.stream, problem,
               keys_of<T>(buffers), values_of<T>(buffers), buffers.indices);
    });
}

}  // namespace

Variant<Problem> global_insertion() {
    return {.role = Role::baseline,
            .summary = "one thread per row, sorted list in global memory",
            .source = "K 3.2.1, fig. 9",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"block", {256, 64}}},
            .optional_features = {"layout", "keys"},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
