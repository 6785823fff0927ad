// A full radix sort of every row, one sort after the other, of which the first k are kept (sources K
// 3.2.2, 6.4, fig. 8). The sort is CUB's. It does far more than asked, and a row must be long for one
// sort to fill the device.

#include "device/cub.hpp"
#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/smallest_k/sorted_rows.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    // A sort takes several launches of microseconds each: beyond this the rows take seconds.
    if (problem.rows > (1 << 17)) return Support::no("one sort per row: more than 131,072 sorts take seconds");
    return Support::yes();
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return Batch(problem).bytes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.results() == 0) return;
    const Batch batch(problem);
    const BatchArrays arrays(batch, context.workspace.data());
    sort_batches(context, problem, buffers, batch, arrays, [&](std::int64_t count, auto& keys, auto& columns) {
        int sorted = 0;
        for (std::int64_t row = 0; row < count; ++row) {
            const std::int64_t at = row * problem.columns;
            cub::DoubleBuffer<std::uint32_t> row_keys(arrays.keys + at, arrays.other_keys + at);
            cub::DoubleBuffer<std::int32_t> row_columns(arrays.columns + at, arrays.other_columns + at);
            const auto n = static_cast<std::int32_t>(problem.columns);
            std::size_t bytes = 0;
            check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, row_keys, row_columns, n), "sizing the radix sort");
            bytes = checked_temporary(bytes, batch);
            check(cub::DeviceRadixSort::SortPairs(arrays.temporary, bytes, row_keys, row_columns, n, 0, 32,
                                                  context.stream),
                  "radix sort of a row");
            sorted = row_keys.selector;  // the same for all rows: their length decides
        }
        keys.selector = columns.selector = sorted;
    });
}

}  // namespace

Variant<Problem> radix_sort_rows() {
    return {.summary = "one radix sort (CUB) per row, the first k kept",
            .source = "K 3.2.2, 6.4, fig. 8",
            .limits = "rows <= 131,072",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::smallest_k
