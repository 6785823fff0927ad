// Row-major rows of up to 2,048 columns, each in the registers of a warp or a part of one. The matrix is read once, 16
// bytes a lane, and little more than k elements of a row are left to sort (row_cut.cuh): they go to shared memory and
// through bitonic networks of 32 entries, key and index in 64 bits. The order of the data makes no difference: no list
// is kept that a better element could disturb.
//
// `lanes` per row: parts of a warp search for the cuts of several short rows at once; the sorts are a whole warp's.

#include <algorithm>
#include <array>
#include <cstdint>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"
#include "variants/smallest_k/lane_rows.cuh"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/row_cut.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

/// Merges 32 sorted entries into a list of which every register holds 32.
template <int registers>
__device__ void merge_into(std::uint64_t (&list)[registers], std::uint64_t entry, int used, unsigned lane) {
    std::uint64_t carried = __shfl_xor_sync(kAll, entry, kLanes - 1);  // descending
#pragma unroll
    for (int r = 0; r < registers; ++r) {
        if (r >= used) return;
        const std::uint64_t larger = std::max(list[r], carried);
        list[r] = merge_bitonic(std::min(list[r], carried), lane);
        if (r + 1 < registers && r + 1 < used) carried = __shfl_xor_sync(kAll, merge_bitonic(larger, lane), kLanes - 1);
    }
}

/// Sorts `count` raw entries and writes the first k of them.
template <class Size>
__device__ void write_sorted(const std::uint64_t* raw, int count, int k, float* values, std::int32_t* indices,
                             unsigned lane) {
    constexpr int kRegisters = (Size::kMost + kLanes - 1) / kLanes;
    const int used = (k + kLanes - 1) / kLanes, place = static_cast<int>(lane);
    std::uint64_t list[kRegisters];
#pragma unroll
    for (int r = 1; r < kRegisters; ++r) list[r] = kEmptyEntry;
    list[0] = sort(place < count ? sortable(raw[place]) : kEmptyEntry, lane);
    for (int first = kLanes; first < count; first += kLanes)
        merge_into(list, sort(first + place < count ? sortable(raw[first + place]) : kEmptyEntry, lane), used, lane);
#pragma unroll
    for (int r = 0; r < kRegisters; ++r) {
        const int j = r * kLanes + place;
        if (j >= k) continue;
        values[j] = value_of(key_of_entry(list[r]));
        indices[j] = index_of_entry(list[r]);
    }
}

/// Lists that half a warp sorts: two rows at once.
template <int rows>
__device__ void write_short(const std::uint64_t (&raw)[rows][Small::kCapacity], int counts, std::int64_t rows_left,
                            int k, float* values, std::int32_t* indices, unsigned lane) {
    constexpr int kHalf = Small::kCapacity;
    const int place = static_cast<int>(lane) % kHalf, half = static_cast<int>(lane) / kHalf;
#pragma unroll
    for (int first = 0; first < rows; first += 2) {
        const int r = std::min(first + half, rows - 1);
        const int count = __shfl_sync(kAll, counts, r * (kLanes / rows));
        const std::uint64_t entry = sort<kHalf>(place < count ? sortable(raw[r][place]) : kEmptyEntry, lane);
        if (place >= k || first + half >= rows || r >= rows_left) continue;
        values[r * k + place] = value_of(key_of_entry(entry));
        indices[r * k + place] = index_of_entry(entry);
    }
}

/// A warp takes 32 / lanes rows, each `per_lane` registers of every lane.
template <int lanes, int per_lane, class Size>
__global__ void __launch_bounds__(kLanes* kWarps)
    select_rows(Problem problem, bool aligned, const float* distances, float* values, std::int32_t* indices) {
    constexpr int kRows = kLanes / lanes, kParts = std::min(per_lane, std::max(4 * Size::kMost / lanes, kVector));
    auto& buffers = shared<std::uint64_t[kWarps][kRows][Size::kCapacity], struct Candidates>();
    const unsigned lane = threadIdx.x;
    const LaneGroup<lanes> group;
    const int k = static_cast<int>(problem.k), own = static_cast<int>(lane) / lanes;
    const std::int64_t first_row = (static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.y) * kRows;
    const std::int64_t row = first_row + own;
    const int columns = row < problem.rows ? static_cast<int>(problem.columns) : 0;

    float elements[per_lane];
    load_stripe(group, elements, distances + row * problem.columns, columns, aligned);
    const Cut<float> cut = find_cut<kParts>(group, elements, kInfinityKey, k, k, Size::kSlack, Size::kCapacity);
    const int taken = take(group, elements, cut, columns, buffers[threadIdx.y][own]);
    __syncwarp();
    if constexpr (Size::kMost == Small::kMost) {
        write_short(buffers[threadIdx.y], taken, problem.rows - first_row, k, values + first_row * k,
                    indices + first_row * k, lane);
    } else {
#pragma unroll 1
        for (int r = 0; r < kRows; ++r) {
            if (first_row + r >= problem.rows) return;
            const std::int64_t at = (first_row + r) * k;
            write_sorted<Size>(buffers[threadIdx.y][r], __shfl_sync(kAll, taken, r * lanes), k, values + at,
                               indices + at, lane);
        }
    }
}

template <int lanes, int per_lane, class Size>
constexpr LaneKernel<> instance() {
    return {lanes, lanes * per_lane, Size::kMost, select_rows<lanes, per_lane, Size>};
}

/// By lanes; the first that fits is taken.
constexpr std::array kInstances{
    instance<32, 8, Small>(),   instance<32, 16, Small>(),  instance<32, 32, Small>(),  instance<32, 64, Small>(),
    instance<32, 8, Medium>(),  instance<32, 16, Medium>(), instance<32, 32, Medium>(), instance<32, 64, Medium>(),
    instance<32, 16, Large>(),  instance<32, 32, Large>(),  instance<32, 64, Large>(),  instance<16, 8, Small>(),
    instance<16, 16, Small>(),  instance<16, 32, Small>(),  instance<16, 8, Medium>(),  instance<16, 16, Medium>(),
    instance<16, 32, Medium>(), instance<8, 8, Small>(),    instance<8, 16, Small>(),   instance<8, 32, Small>(),
    instance<8, 8, Medium>(),   instance<8, 16, Medium>(),  instance<8, 32, Medium>(),  instance<4, 8, Small>(),
    instance<4, 16, Small>(),   instance<4, 32, Small>()};

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    return supports_lanes<float>(kInstances, problem, configuration["lanes"]);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    run_lanes<float>(kInstances, context, problem, buffers, configuration["lanes"]);
}

}  // namespace

Variant<Problem> warp_rows() {
    return {.role = Role::modern,
            .summary = "a warp or a part of it per row in registers, cut by the parts' minima, the rest sorted",
            .limits = "row-major or a single row; 2,048 columns, k <= 128 with 32 lanes",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"lanes", {32, 16, 8, 4}}},
            .optional_features = {"layout"},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
