#pragma once

#include <algorithm>

#include "device/kernel.hpp"
#include "variants/knn/vote.hpp"

/// What the pipelines run on the GPU themselves, beside the stages.
namespace espalier::knn {
namespace {

/// Copies part of every row of an attribute-major set. The grid's second dimension strides over the rows.
__global__ void copy_columns(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride,
                             std::int64_t count, std::int64_t rows) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y)
        to[row * to_stride + i] = from[row * from_stride + i];
}

/// One thread per query: the lists are transposed, so that a warp reads neighbouring words.
__global__ void vote_kernel(Problem problem, Buffers buffers, Neighbours chunk, std::int64_t first) {
    chunk.row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (chunk.row < chunk.rows) vote(problem, buffers, chunk, first);
}

constexpr unsigned kThreadsPerBlock = 128;

unsigned blocks_for(std::int64_t threads) {
    return static_cast<unsigned>((threads + kThreadsPerBlock - 1) / kThreadsPerBlock);
}

/// Queries first.. of all, attribute-major, to a set of their own.
[[maybe_unused]] void gather_queries(const Problem& problem, const float* query_values, std::int64_t first,
                                     std::int64_t count, float* to, Stream stream) {
    if (problem.dims == 0) return;
    const dim3 grid(blocks_for(count), static_cast<unsigned>(std::min<std::int64_t>(problem.dims, 65535)));
    device::launch(copy_columns, grid, dim3(kThreadsPerBlock), 0, stream, query_values + first, problem.queries, to,
                   count, count, problem.dims);
}

void vote_per_query(const Problem& problem, const Buffers& buffers, const Neighbours& chunk, std::int64_t first,
                    Stream stream) {
    device::launch(vote_kernel, dim3(blocks_for(chunk.rows)), dim3(kThreadsPerBlock), 0, stream, problem, buffers,
                   chunk, first);
}

}  // namespace
}  // namespace espalier::knn
