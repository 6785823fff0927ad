// Enumeration sort (source P 4): one thread per element counts how many elements of its row come before
// it (smaller, or equal and further left) and writes its element to that place; places from k on are
// dropped. n comparisons per element and n^2 per row, but no communication at all. Neighbouring threads
// work on neighbouring rows, so that all of them read coalesced.

#include <algorithm>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/order.hpp"

namespace espalier::smallest_k {
namespace {

using namespace device;

constexpr unsigned kRows = 32, kColumns = 8;

__global__ void place_elements(Problem problem, std::int64_t row_blocks, const float* distances, float* values,
                               std::int32_t* indices) {
    const std::int64_t row = blockIdx.x % row_blocks * kRows + threadIdx.x;
    const std::int64_t column = blockIdx.x / row_blocks * kColumns + threadIdx.y;
    if (row >= problem.rows) return;
    if (column >= problem.columns) {
        // The threads beyond a short row fill the end of its list.
        if (column < problem.k) {
            values[column * problem.rows + row] = value_of(kEmptyKey);
            indices[column * problem.rows + row] = kNoIndex;
        }
        return;
    }
    const std::uint32_t key = key_of(distances[column * problem.rows + row]);
    std::int64_t rank = 0;
    for (std::int64_t c = 0; c < problem.columns; ++c) {
        const std::uint32_t other = key_of(distances[c * problem.rows + row]);
        rank += other < key || (other == key && c < column) ? 1 : 0;
    }
    if (rank >= problem.k) return;
    values[rank * problem.rows + row] = value_of(key);
    indices[rank * problem.rows + row] = static_cast<std::int32_t>(column);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    // The source sorts up to 2^18 points this way; beyond, a single row takes longer than any use is worth.
    const double comparisons = static_cast<double>(problem.elements()) * static_cast<double>(problem.columns);
    if (comparisons > 0x1p38) return Support::no("quadratic: more than 2^38 comparisons");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.results() == 0) return;
    const std::int64_t row_blocks = (problem.rows + kRows - 1) / kRows;
    const std::int64_t places = std::max(problem.columns, problem.k);
    launch(place_elements, dim3(static_cast<unsigned>(row_blocks * ((places + kColumns - 1) / kColumns))),
           dim3(kRows, kColumns), 0, context.stream, problem, row_blocks, buffers.distances, buffers.values,
           buffers.indices);
}

}  // namespace

Variant<Problem> rank_sort() {
    return {.summary = "enumeration sort: every thread counts what comes before its element",
            .source = "P 4",
            .limits = "rows x columns^2 <= 2^38",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
