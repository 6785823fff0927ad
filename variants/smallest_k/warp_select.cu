// Threshold, buffer, merge by warps. A block owns 32 rows, a lane of every warp per row, and its warps
// share the columns, so that each reads 32 neighbouring words at a time. An element that does not beat the
// last of its row's list costs one comparison. Others go to the row's buffer; once 32 wait there, one
// warp sorts them with a bitonic network and merges them into the row's sorted list, 32 entries at a
// time. A sort is shared by 32 elements and done by 32 lanes, where `register_insertion` makes a whole
// warp wait for every single insertion. (Warp-level selection with a threshold and deferred merging is
// known from Johnson, Douze and Jegou's billion-scale similarity search, where a warp owns one row.)
//
// Few rows would leave most of the device idle: then their columns are cut into slices, one block each,
// and the slices' lists go through the same kernel again.

#include <algorithm>
#include <string>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/typed_keys.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

constexpr int kBuffer = 64;  // up to 31 that wait and one batch of 32

/// The matrix itself: its elements become entries only if they are kept. Where it is row-major, lanes read one word
/// each of 32 rows, and the words beside them in the next steps: every sector comes from memory once, but takes the
/// first-level cache eight times.
template <class T, MatrixLayout layout>
struct Matrix {
    const T* distances;
    std::int64_t stride;  ///< from one column to the next; of a row-major matrix, from one row to the next
    using Value = Compared<T>;
    using Element = Value;
    __device__ Value load(std::int64_t row, std::int64_t column) const {
        return loaded(distances[layout == MatrixLayout::row_major ? row * stride + column : column * stride + row]);
    }
    __device__ static Value value(Value element) { return element; }
    __device__ static std::uint64_t entry(Value element, std::int64_t column) {
        return entry_of(key_of(element), static_cast<std::uint32_t>(column));
    }
};

/// The lists of the slices: entry `column` of row r is entries[column * rows + r].
template <class T>
struct Lists {
    const std::uint64_t* entries;
    std::int64_t rows;
    using Value = Compared<T>;
    using Element = std::uint64_t;
    __device__ std::uint64_t load(std::int64_t row, std::int64_t column) const { return entries[column * rows + row]; }
    __device__ static Value value(std::uint64_t element) { return value_as<Value>(key_of_entry(element)); }
    __device__ static std::uint64_t entry(std::uint64_t element, std::int64_t) { return element; }
};

/// The problem's output, in its layout.
template <class T>
struct ToOutput {
    T* values;
    std::int32_t* indices;
    std::int64_t row_stride, stride;
    __device__ void store(std::int64_t row, std::int64_t j, std::uint64_t entry) const {
        const std::int64_t at = row * row_stride + j * stride;
        values[at] = to_store<T>(value_as<Compared<T>>(key_of_entry(entry)));
        indices[at] = index_of_entry(entry);
    }
};

struct ToLists {
    std::uint64_t* entries;
    std::int64_t rows;
    __device__ void store(std::int64_t row, std::int64_t j, std::uint64_t entry) const {
        entries[j * rows + row] = entry;
    }
};

/// What a block keeps of its 32 rows in shared memory.
struct RowLists {
    std::uint64_t* memory;  ///< per row its list, then its buffer; an odd stride keeps lanes in different banks
    int length;             ///< of a list: k rounded up to whole warps

    __device__ int stride() const { return length + kBuffer + 1; }
    __device__ std::uint64_t* list(int row) const { return memory + row * stride(); }
    __device__ std::uint64_t* buffer(int row) const { return list(row) + length; }
};

constexpr std::size_t shared_bytes_for(std::int64_t length) {
    return static_cast<std::size_t>(kLanes * (length + kBuffer + 1)) * sizeof(std::uint64_t);
}

/// Merges up to 32 buffered entries (the others must be empty) into a sorted list; all lanes of a warp.
__device__ void merge_into(std::uint64_t* list, int length, std::uint64_t entry, unsigned lane) {
    std::uint64_t carried = sort(entry, lane);
    for (int first = 0; first < length; first += kLanes) {
        const std::uint64_t own = list[first + static_cast<int>(lane)];
        // All of this part stays in front of what is carried: nothing to do here.
        if (__shfl_sync(kAll, own, kLanes - 1) < __shfl_sync(kAll, carried, 0)) continue;
        const std::uint64_t reversed = __shfl_sync(kAll, carried, kLanes - 1 - static_cast<int>(lane));
        list[first + static_cast<int>(lane)] = merge_bitonic(std::min(own, reversed), lane);
        if (first + kLanes < length) carried = merge_bitonic(std::max(own, reversed), lane);
    }
}

/// Blocks of 32 x warps threads. `slice` columns per block; slice s writes entries [s * k, s * k + k) of
/// its rows.
// Long: results are of this very text; loads, buffers and merges share thresholds and barriers.
template <int warps, class Source, class Target>
__global__ void select_rows(std::int64_t rows, std::int64_t columns, std::int64_t slice, std::int64_t k, Source source,
                            Target target) {
    constexpr int kColumns = kLanes / warps;  // per warp and step: one batch per row fits the buffer
    auto& waiting = shared<int[kLanes], struct Waiting>();
    using Value = typename Source::Value;
    auto& thresholds = shared<Value[kLanes], struct Thresholds>();
    const RowLists lists{dynamic_shared<std::uint64_t>(), static_cast<int>((k + kLanes - 1) / kLanes * kLanes)};
    const unsigned lane = threadIdx.x;
    const int warp = static_cast<int>(threadIdx.y);
    const std::int64_t row_blocks = (rows + kLanes - 1) / kLanes;
    const std::int64_t row = blockIdx.x % row_blocks * kLanes + lane, slice_number = blockIdx.x / row_blocks;
    const std::int64_t begin = slice_number * slice, end = std::min(begin + slice, columns);
    const bool has_row = row < rows;

    for (int r = warp; r < kLanes; r += warps)
        for (int j = static_cast<int>(lane); j < lists.length; j += kLanes) lists.list(r)[j] = kEmptyEntry;
    if (warp == 0) {
        waiting[lane] = 0;
        thresholds[lane] = value_as<Value>(kEmptyKey);
    }
    __syncthreads();

    // Merges what waits for the rows of this warp if there are at least `least`.
    const auto flush = [&](int least) {
        for (int r = warp; r < kLanes; r += warps) {
            int count = waiting[r];
            if (count < least) continue;
            while (count >= least) {
                std::uint64_t* const buffer = lists.buffer(r);
                const int place = static_cast<int>(lane);
                const std::uint64_t entry = place < count ? buffer[place] : kEmptyEntry;
                const std::uint64_t next = place + kLanes < count ? buffer[place + kLanes] : kEmptyEntry;
                merge_into(lists.list(r), lists.length, entry, lane);
                buffer[place] = next;
                count = std::max(count - kLanes, 0);
            }
            __syncwarp();
            if (lane == 0) {
                waiting[r] = count;
                thresholds[r] = value_as<Value>(key_of_entry(lists.list(r)[k - 1]));
            }
        }
    };

    for (std::int64_t first = begin; first < end; first += kLanes) {
        typename Source::Element elements[kColumns];
#pragma unroll
        for (int i = 0; i < kColumns; ++i) {
            const std::int64_t column = first + warp + i * warps;
            if (has_row && column < end) elements[i] = source.load(row, column);
        }
        const Value threshold = thresholds[lane];
        bool full = false;
#pragma unroll
        for (int i = 0; i < kColumns; ++i) {
            const std::int64_t column = first + warp + i * warps;
            if (has_row && column < end && may_come_before(Source::value(elements[i]), threshold)) {
                const int place = atomicAdd(&waiting[lane], 1);
                lists.buffer(static_cast<int>(lane))[place] = Source::entry(elements[i], column);
                full = full || place >= kLanes - 1;
            }
        }
        if (__syncthreads_or(full)) {
            flush(kLanes);
            __syncthreads();
        }
    }
    __syncthreads();
    flush(1);
    __syncthreads();
    if (has_row)
        for (std::int64_t j = warp; j < k; j += warps)
            target.store(row, slice_number * k + j, lists.list(static_cast<int>(lane))[j]);
}

std::int64_t row_blocks_of(const Problem& problem) { return (problem.rows + kLanes - 1) / kLanes; }

std::int64_t length_of(const Problem& problem) { return (problem.k + kLanes - 1) / kLanes * kLanes; }

/// Enough slices to fill the device twice, each long enough that most of it never reaches a buffer.
std::int64_t slices_of(const Problem& problem, const DeviceInfo& device) {
    if (problem.results() == 0) return 1;
    const std::int64_t wanted =
        8 * std::int64_t{std::max(device.sm_count, 1)} / std::max<std::int64_t>(row_blocks_of(problem), 1);
    const std::int64_t sensible = problem.columns / (16 * length_of(problem));
    return std::max<std::int64_t>(std::min(wanted, sensible), 1);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    const std::size_t bytes = shared_bytes_for(length_of(problem)) + 1024;  // the static arrays' share
    if (bytes > device.shared_per_block_optin)
        return Support::no("32 lists of " + std::to_string(problem.k) + " need " + std::to_string(bytes) +
                           " bytes of shared memory per block, the device has " +
                           std::to_string(device.shared_per_block_optin));
    return Support::yes();
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    const std::int64_t slices = slices_of(problem, device);
    return slices == 1 ? 0 : static_cast<std::size_t>(slices * problem.results()) * sizeof(std::uint64_t);
}

template <int warps, class T, class Source>
void select(const Context& context, const Problem& problem, const Buffers& buffers, const Source& matrix) {
    const std::int64_t slices = slices_of(problem, context.device), row_blocks = row_blocks_of(problem);
    const std::size_t shared_bytes = shared_bytes_for(length_of(problem));
    const dim3 block(kLanes, warps);
    const ToOutput<T> output{values_of<T>(buffers), buffers.indices, problem.result_at(1, 0), problem.result_at(0, 1)};
    if (slices == 1)
        return launch(select_rows<warps, Source, ToOutput<T>>, dim3(static_cast<unsigned>(row_blocks)), block,
                      shared_bytes, context.stream, problem.rows, problem.columns, problem.columns, problem.k, matrix,
                      output);
    auto* const entries = reinterpret_cast<std::uint64_t*>(context.workspace.data());
    const std::int64_t slice = (problem.columns + slices - 1) / slices;
    launch(select_rows<warps, Source, ToLists>, dim3(static_cast<unsigned>(row_blocks * slices)), block, shared_bytes,
           context.stream, problem.rows, problem.columns, slice, problem.k, matrix, ToLists{entries, problem.rows});
    launch(select_rows<warps, Lists<T>, ToOutput<T>>, dim3(static_cast<unsigned>(row_blocks)), block, shared_bytes,
           context.stream, problem.rows, slices * problem.k, slices * problem.k, problem.k,
           Lists<T>{entries, problem.rows}, output);
}

template <int warps, class T>
void select(const Context& context, const Problem& problem, const Buffers& buffers) {
    using enum MatrixLayout;
    if (problem.layout == row_major)
        select<warps, T>(context, problem, buffers, Matrix<T, row_major>{keys_of<T>(buffers), problem.columns});
    else
        select<warps, T>(context, problem, buffers, Matrix<T, transposed>{keys_of<T>(buffers), problem.rows});
}

template <class T>
void select_by(int warps, const Context& context, const Problem& problem, const Buffers& buffers) {
    switch (warps) {
        case 4: return select<4, T>(context, problem, buffers);
        case 16: return select<16, T>(context, problem, buffers);
        default: return select<8, T>(context, problem, buffers);
    }
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    with_key_type(problem.keys, [&]<class T>(std::type_identity<T>) {
        select_by<T>(configuration["warps"], context, problem, buffers);
    });
}

}  // namespace

Variant<Problem> warp_select() {
    return {.role = Role::modern,
            .summary = "threshold per row, candidates buffered, sorted and merged 32 at a time by a warp",
            .source = "after Johnson, Douze and Jegou 2017",
            .limits = "256 x (k + 65) bytes of shared memory per block",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"warps", {8, 4, 16}}},
            .optional_features = {"layout", "keys"},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::smallest_k
