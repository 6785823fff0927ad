// As radix_sort_rows, but all rows of a batch are segments of one call (source K 6.4), which CUB sorts
// with one block each: many short rows fill the device at once.

#include "device/cub.hpp"
#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/smallest_k/sorted_rows.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

__global__ void fill_offsets(std::int64_t count, std::int64_t columns, std::int32_t* offsets) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i <= count) offsets[i] = static_cast<std::int32_t>(i * columns);
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return Batch(problem).bytes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.results() == 0) return;
    const Batch batch(problem);
    const BatchArrays arrays(batch, context.workspace.data());
    sort_batches(context, problem, buffers, batch, arrays, [&](std::int64_t count, auto& keys, auto& columns) {
        constexpr unsigned kBlock = 256;
        launch(fill_offsets, dim3(static_cast<unsigned>(count / kBlock + 1)), dim3(kBlock), 0, context.stream, count,
               problem.columns, arrays.offsets);
        const auto sort = [&](void* temporary, std::size_t& bytes) {
            check(cub::DeviceSegmentedRadixSort::SortPairs(
                      temporary, bytes, keys, columns, static_cast<int>(count * problem.columns),
                      static_cast<int>(count), arrays.offsets, arrays.offsets + 1, 0, 32, context.stream),
                  "segmented radix sort");
        };
        std::size_t bytes = 0;
        sort(nullptr, bytes);
        bytes = checked_temporary(bytes, batch);
        sort(arrays.temporary, bytes);
    });
}

}  // namespace

Variant<Problem> segmented_radix_sort() {
    return {.summary = "all rows radix-sorted in one segmented call (CUB), the first k kept",
            .source = "K 6.4",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::smallest_k
