#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "device/cub.hpp"
#include "device/kernel.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/order.hpp"

/// Selection by sorting whole rows with CUB: rows are gathered into keys and columns, sorted, and their
/// first k kept. CUB's radix sorts are stable, so that ties stay in the order of their columns.
namespace espalier::smallest_k {

/// Rows that are sorted at a time, and the workspace they need. Pure arithmetic: CUB's own need can only
/// be asked with a device at hand, so there is an upper bound here and a check in `temporary`.
struct Batch {
    std::int64_t rows, columns;

    explicit Batch(const Problem& problem)
        : rows(std::clamp<std::int64_t>(kElements / std::max<std::int64_t>(problem.columns, 1), 1,
                                        std::max<std::int64_t>(problem.rows, 1))),
          columns(problem.columns) {}

    /// Bytes of each of the four arrays: keys and columns, each with the alternate that a sort writes to.
    [[nodiscard]] std::size_t array_bytes() const { return padded(static_cast<std::size_t>(rows * columns) * 4); }
    [[nodiscard]] std::size_t offset_bytes() const { return padded(static_cast<std::size_t>(rows + 1) * 4); }

    /// Double-buffered, CUB needs a byte per element at most for its look-back (256 counters of 4 bytes per
    /// tile of more than 1,024 elements) and histograms that depend on the device, not on the problem.
    [[nodiscard]] std::size_t temporary_bytes() const {
        return padded(static_cast<std::size_t>(rows * columns)) + (std::size_t{16} << 20);
    }
    [[nodiscard]] std::size_t bytes() const { return 4 * array_bytes() + offset_bytes() + temporary_bytes(); }

private:
    static constexpr std::int64_t kElements = std::int64_t{1} << 26;  // 1 GiB of arrays; int counts suffice
    static constexpr std::size_t padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
};

/// The workspace of a batch, cut up.
struct BatchArrays {
    std::uint32_t *keys, *other_keys;
    std::int32_t *columns, *other_columns;
    std::int32_t* offsets;
    std::byte* temporary;

    BatchArrays(const Batch& batch, std::byte* at)
        : keys(take<std::uint32_t>(at, batch.array_bytes())),
          other_keys(take<std::uint32_t>(at, batch.array_bytes())),
          columns(take<std::int32_t>(at, batch.array_bytes())),
          other_columns(take<std::int32_t>(at, batch.array_bytes())),
          offsets(take<std::int32_t>(at, batch.offset_bytes())),
          temporary(at) {}

private:
    template <class T>
    static T* take(std::byte*& at, std::size_t bytes) {
        return reinterpret_cast<T*>(std::exchange(at, at + bytes));
    }
};

/// What a sort asked for, or DeviceError if this CUB wants more than the bound above.
inline std::size_t checked_temporary(std::size_t asked, const Batch& batch) {
    if (asked > batch.temporary_bytes())
        throw device::DeviceError("CUB asks for " + std::to_string(asked) +
                                      " bytes of temporary storage, more than the " +
                                      std::to_string(batch.temporary_bytes()) + " that workspace() provides",
                                  2);
    return asked;
}

namespace {

constexpr unsigned kSide = 32;

/// Transposes 32 x 32 elements through shared memory, so that both sides coalesce; a row of 33 words
/// keeps its columns in different banks.
__global__ void gather_rows(Problem problem, std::int64_t first, std::int64_t count, const float* distances,
                            std::uint32_t* keys, std::int32_t* columns) {
    auto& tile = device::shared<std::uint32_t[kSide][kSide + 1]>();
    const std::int64_t tiles_of_rows = (count + kSide - 1) / kSide;
    const std::int64_t row = blockIdx.x % tiles_of_rows * kSide, column = blockIdx.x / tiles_of_rows * kSide;
    for (unsigned y = threadIdx.y; y < kSide; y += blockDim.y)
        if (row + threadIdx.x < count && column + y < problem.columns)
            tile[y][threadIdx.x] = key_of(distances[(column + y) * problem.rows + first + row + threadIdx.x]);
    __syncthreads();
    for (unsigned y = threadIdx.y; y < kSide; y += blockDim.y)
        if (row + y < count && column + threadIdx.x < problem.columns) {
            const std::int64_t at = (row + y) * problem.columns + column + threadIdx.x;
            keys[at] = tile[threadIdx.x][y];
            columns[at] = static_cast<std::int32_t>(column + threadIdx.x);
        }
}

/// Writes the lists of rows first .. first + count from their sorted keys and columns.
__global__ void keep_first(Problem problem, std::int64_t first, std::int64_t count, const std::uint32_t* keys,
                           const std::int32_t* columns, float* values, std::int32_t* indices) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count * problem.k) return;
    const std::int64_t row = i % count, j = i / count, from = row * problem.columns + j;
    const std::int64_t to = j * problem.rows + first + row;
    values[to] = value_of(j < problem.columns ? keys[from] : kEmptyKey);
    indices[to] = j < problem.columns ? columns[from] : kNoIndex;
}

/// Gathers, sorts and stores batch after batch. `sort(count, keys, columns)` sorts `count` gathered rows
/// in the double buffers.
template <class Sort>
void sort_batches(const Context& context, const Problem& problem, const Buffers& buffers, const Batch& batch,
                  const BatchArrays& arrays, Sort&& sort) {
    constexpr unsigned kBlock = 256;
    for (std::int64_t first = 0; first < problem.rows; first += batch.rows) {
        const std::int64_t count = std::min(batch.rows, problem.rows - first);
        cub::DoubleBuffer<std::uint32_t> keys(arrays.keys, arrays.other_keys);
        cub::DoubleBuffer<std::int32_t> columns(arrays.columns, arrays.other_columns);
        if (problem.columns > 0) {
            const std::int64_t tiles = ((count + kSide - 1) / kSide) * ((problem.columns + kSide - 1) / kSide);
            device::launch(gather_rows, dim3(static_cast<unsigned>(tiles)), dim3(kSide, 8), 0, context.stream, problem,
                           first, count, buffers.distances, arrays.keys, arrays.columns);
            sort(count, keys, columns);
        }
        device::launch(keep_first, dim3(static_cast<unsigned>((count * problem.k + kBlock - 1) / kBlock)), dim3(kBlock),
                       0, context.stream, problem, first, count, keys.Current(), columns.Current(), buffers.values,
                       buffers.indices);
    }
}

}  // namespace
}  // namespace espalier::smallest_k
