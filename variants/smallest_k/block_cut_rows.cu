// Row-major rows of up to 32,768 columns, each in the registers of a block: a cut by interpolation takes the k smallest
// exactly (row_threshold.cuh) and leaves them in no order. Sorted lists are sorted in place by a second kernel, a warp
// each (packed_sort.cuh): 16 bytes more of traffic per entry, but neither kernel waits in the other's registers, and
// no warp of a block waits for one that sorts.

#include <algorithm>
#include <array>
#include <string>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/block_rows.cuh"
#include "variants/smallest_k/packed_sort.cuh"
#include "variants/smallest_k/row_threshold.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

/// 64 registers each, 80 where blocks are small enough to fill a multiprocessor with them. The searches of 512 threads
/// and more spill up to 200 bytes, which two blocks to hide each other's barriers are worth.
constexpr int threads_per_sm(int threads, int per_thread) { return per_thread == 32 && threads < 512 ? 768 : 1024; }

template <int threads, int per_thread>
__global__ void __launch_bounds__(threads, threads_per_sm(threads, per_thread) / threads)
    cut_rows(int columns, int k, bool aligned, const float* distances, float* values, std::int32_t* indices) {
    const RawList list{shared<std::uint64_t[RawList::room_for(kMaxSmallestK)], struct CutEntries>()};
    const std::int64_t row = blockIdx.x;
    BlockGroup<threads> group;
    float elements[per_thread];
    load_stripe(group, elements, distances + row * columns, columns, aligned);
    const Cut cut = find_threshold(group, elements, k, k);
    const int taken = gather(group, elements, cut, columns, list);
    __syncthreads();
    write_list(list, taken, k, values + row * k, indices + row * k, group.rank(), threads);
}

constexpr int warps_for(int registers) { return registers < 32 ? 4 : 2; }

/// A warp per list of k, `count` of which are filled.
template <int registers>
__global__ void __launch_bounds__(kLanes* warps_for(registers))
    sort_lists(std::int64_t lists, int count, int k, float* values, std::int32_t* indices) {
    constexpr int kWarps = warps_for(registers);
    auto& space = shared<SortSpace<registers>[kWarps], struct ListSpace>()[threadIdx.y];
    const std::int64_t list = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.y;
    if (list >= lists) return;
    const RawList raw{space.entries};
    for (int j = static_cast<int>(threadIdx.x); j < count; j += kLanes)
        raw[j] = raw_entry(values[list * k + j], indices[list * k + j]);
    __syncwarp();
    WarpSort<registers>(space, count, threadIdx.x).write(k, values + list * k, indices + list * k);
}

struct CutInstance {
    int per_thread, threads;
    void (*kernel)(int, int, bool, const float*, float*, std::int32_t*);
};

template <int per_thread, int threads>
constexpr CutInstance cut_instance() {
    return {per_thread, threads, cut_rows<threads, per_thread>};
}

/// The first that holds the row.
constexpr std::array kCuts{cut_instance<16, 128>(),  cut_instance<16, 256>(), cut_instance<16, 512>(),
                           cut_instance<16, 1024>(), cut_instance<32, 128>(), cut_instance<32, 256>(),
                           cut_instance<32, 512>(),  cut_instance<32, 1024>()};

const CutInstance* find_cut_instance(const Problem& problem, const Configuration& configuration) {
    for (const CutInstance& instance : kCuts)
        if (instance.per_thread == configuration["per_thread"] &&
            problem.columns <= std::int64_t{instance.per_thread} * instance.threads)
            return &instance;
    return nullptr;
}

struct SortInstance {
    int registers;
    void (*kernel)(std::int64_t, int, int, float*, std::int32_t*);
};

constexpr std::array kSorts{SortInstance{2, sort_lists<2>}, SortInstance{4, sort_lists<4>},
                            SortInstance{8, sort_lists<8>}, SortInstance{16, sort_lists<16>},
                            SortInstance{32, sort_lists<32>}};

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (!problem.has_rows()) return Support::no("reads rows: needs layout=row_major");
    if (problem.k > kMaxSmallestK) return Support::no("k above 1,024");
    if (!find_cut_instance(problem, configuration))
        return Support::no("a block of 1,024 threads holds rows of up to " +
                           std::to_string(configuration["per_thread"] * 1024) + " columns");
    if (problem.rows > 2147483647) return Support::no("more than 2,147,483,647 rows exceed the grid");
    return Support::yes();
}

void sort(const Context& context, const Problem& problem, const Buffers& buffers) {
    const int count = static_cast<int>(std::min(problem.columns, problem.k));
    const SortInstance& instance =
        *std::ranges::find_if(kSorts, [&](const SortInstance& s) { return count <= s.registers * kLanes; });
    const int warps = warps_for(instance.registers);
    launch(instance.kernel, dim3(static_cast<unsigned>((problem.rows + warps - 1) / warps)),
           dim3(kLanes, static_cast<unsigned>(warps)), 0, context.stream, problem.rows, count,
           static_cast<int>(problem.k), buffers.values, buffers.indices);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    const CutInstance& instance = *find_cut_instance(problem, configuration);
    const bool aligned =
        problem.columns % kVector == 0 && reinterpret_cast<std::uintptr_t>(buffers.distances) % sizeof(float4) == 0;
    launch(instance.kernel, dim3(static_cast<unsigned>(problem.rows)), dim3(static_cast<unsigned>(instance.threads)), 0,
           context.stream, static_cast<int>(problem.columns), static_cast<int>(problem.k), aligned, buffers.distances,
           buffers.values, buffers.indices);
    if (problem.order == ListOrder::ascending) sort(context, problem, buffers);
}

}  // namespace

Variant<Problem> block_cut_rows() {
    return {
        .role = Role::modern,
        .summary = "a block per row in registers takes the k smallest exactly, then a warp per list sorts, if asked",
        .limits = "row-major or a single row; 32,768 columns, k <= 1,024",
        .tolerance = {.reason = "selects, computes nothing"},
        .space = {{"per_thread", {16, 32}}},
        .optional_features = {"layout", "order"},
        .supports = supports,
        .run = run};
}

}  // namespace espalier::smallest_k
