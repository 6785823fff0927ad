// Bitonic sort of each row, then its first k (source K 3.2.1). One block per row sorts (key, index)
// entries, padded to a power of two with empty ones; the network is not stable, hence the index in what
// is compared. The row lives in shared memory if it fits, else in the block's slice of the workspace.

#include <algorithm>
#include <bit>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/order.hpp"

namespace espalier::smallest_k {
namespace {

using namespace device;

/// Blocks that share the workspace when rows do not fit shared memory: enough to fill any device, few
/// enough that the slices stay small beside the matrix.
constexpr std::int64_t kSlices = 1024;

std::size_t padded(const Problem& problem) {
    return std::bit_ceil(static_cast<std::size_t>(std::max({problem.columns, problem.k, std::int64_t{2}})));
}

std::size_t row_bytes(const Problem& problem) { return padded(problem) * sizeof(std::uint64_t); }

bool fits_shared(const Problem& problem, const DeviceInfo& device) {
    return row_bytes(problem) <= device.shared_per_block_optin;
}

__device__ void sort_row(std::uint64_t* entries, std::int64_t count) {
    for (std::int64_t size = 2; size <= count; size *= 2)
        for (std::int64_t stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            for (std::int64_t i = threadIdx.x; i < count / 2; i += blockDim.x) {
                // The i-th pair of entries that lie `stride` apart.
                const std::int64_t low = 2 * i - (i & (stride - 1)), high = low + stride;
                const bool ascending = (low & size) == 0;
                const std::uint64_t a = entries[low], b = entries[high];
                if ((a > b) == ascending) {
                    entries[low] = b;
                    entries[high] = a;
                }
            }
        }
    __syncthreads();
}

/// `slices` is null if the rows are sorted in shared memory.
__global__ void sort_rows(Problem problem, std::int64_t count, std::uint64_t* slices, const float* distances,
                          float* values, std::int32_t* indices) {
    auto* const entries = slices ? slices + blockIdx.x * count : dynamic_shared<std::uint64_t>();
    for (std::int64_t row = blockIdx.x; row < problem.rows; row += gridDim.x) {
        for (std::int64_t c = threadIdx.x; c < count; c += blockDim.x)
            entries[c] = c < problem.columns
                             ? entry_of(key_of(distances[c * problem.rows + row]), static_cast<std::uint32_t>(c))
                             : kEmptyEntry;
        sort_row(entries, count);
        for (std::int64_t j = threadIdx.x; j < problem.k; j += blockDim.x) {
            values[j * problem.rows + row] = value_of(key_of_entry(entries[j]));
            indices[j * problem.rows + row] = index_of_entry(entries[j]);
        }
        __syncthreads();
    }
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (fits_shared(problem, device)) return 0;
    return static_cast<std::size_t>(std::min(problem.rows, kSlices)) * row_bytes(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    const bool shared_rows = fits_shared(problem, context.device);
    const std::int64_t blocks =
        shared_rows ? std::min(problem.rows, std::int64_t{2147483647}) : std::min(problem.rows, kSlices);
    auto* const slices = shared_rows ? nullptr : reinterpret_cast<std::uint64_t*>(context.workspace.data());
    launch(sort_rows, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(configuration["block"])),
           shared_rows ? row_bytes(problem) : 0, context.stream, problem, static_cast<std::int64_t>(padded(problem)),
           slices, buffers.distances, buffers.values, buffers.indices);
}

}  // namespace

Variant<Problem> bitonic_sort_rows() {
    return {.summary = "bitonic sort of each row by one block, in shared memory if it fits",
            .source = "K 3.2.1",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"block", {256, 1024}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::smallest_k
