// Row-major rows of up to 32,768 columns, each in the registers of a block: a cut by interpolation takes the k smallest
// exactly (row_threshold.cuh) and leaves them in no order. Sorted lists are sorted in place by a second kernel, a warp
// each (warp_sort.cuh): 16 bytes more of traffic per entry, but neither kernel waits in the other's registers, and
// no warp of a block waits for one that sorts.

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <type_traits>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/block_rows.cuh"
#include "variants/smallest_k/row_threshold.cuh"
#include "variants/smallest_k/warp_sort.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

/// 64 registers each, 80 where blocks are small enough to fill a multiprocessor with them. The searches of 512 threads
/// and more spill up to 200 bytes, which two blocks to hide each other's barriers are worth. Those of other types than
/// float32 would spill more: there 512 threads of 32 elements are alone, and no block has more.
template <class T>
constexpr int threads_per_sm(int threads, int per_thread) {
    if (!std::is_same_v<T, float> && threads == 512 && per_thread == 32) return 512;
    return per_thread == 32 && threads < 512 ? 768 : 1024;
}

template <class T, int threads, int per_thread>
__global__ void __launch_bounds__(threads, threads_per_sm<T>(threads, per_thread) / threads)
    cut_rows(int columns, int k, bool aligned, const T* distances, T* values, std::int32_t* indices) {
    const RawList list{shared<std::uint64_t[RawList::room_for(kMaxSmallestK)], struct CutEntries>()};
    const std::int64_t row = blockIdx.x;
    BlockGroup<threads> group;
    Compared<T> elements[per_thread];
    load_stripe(group, elements, distances + row * columns, columns, aligned);
    const Cut<Compared<T>> cut = find_threshold(group, elements, k, k);
    const int taken = gather<kVectorOf<T>>(group, elements, cut, columns, list);
    __syncthreads();
    write_list(list, taken, k, values + row * k, indices + row * k, group.rank(), threads);
}

constexpr int warps_for(int registers) { return registers < 32 ? 4 : 2; }

/// A warp per list of k, `count` of which are filled.
template <class T, int registers>
__global__ void __launch_bounds__(kLanes* warps_for(registers))
    sort_lists(std::int64_t lists, int count, int k, T* values, std::int32_t* indices) {
    constexpr int kWarps = warps_for(registers);
    auto& space = shared<SortSpace<registers>[kWarps], struct ListSpace>()[threadIdx.y];
    const std::int64_t list = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.y;
    if (list >= lists) return;
    const RawList raw{space.entries};
    for (int j = static_cast<int>(threadIdx.x); j < count; j += kLanes)
        raw[j] = raw_entry(loaded(values[list * k + j]), indices[list * k + j]);
    __syncwarp();
    WarpSort<registers, T>(space, count, threadIdx.x).write(k, values + list * k, indices + list * k);
}

template <class T>
struct CutInstance {
    int per_thread, threads;
    void (*kernel)(int, int, bool, const T*, T*, std::int32_t*);
};

template <class T, int per_thread, int threads>
constexpr CutInstance<T> cut_instance() {
    return {per_thread, threads, cut_rows<T, threads, per_thread>};
}

/// The first that holds the row.
constexpr std::array kFloatCuts{cut_instance<float, 16, 128>(), cut_instance<float, 16, 256>(),
                                cut_instance<float, 16, 512>(), cut_instance<float, 16, 1024>(),
                                cut_instance<float, 32, 128>(), cut_instance<float, 32, 256>(),
                                cut_instance<float, 32, 512>(), cut_instance<float, 32, 1024>()};
template <class T>
constexpr std::array kOtherCuts{cut_instance<T, 16, 128>(), cut_instance<T, 16, 256>(), cut_instance<T, 16, 512>(),
                                cut_instance<T, 32, 128>(), cut_instance<T, 32, 256>(), cut_instance<T, 32, 512>()};

template <class T>
constexpr std::span<const CutInstance<T>> cuts() {
    if constexpr (std::is_same_v<T, float>)
        return kFloatCuts;
    else
        return kOtherCuts<T>;
}

/// Of a block.
constexpr int most_threads(KeyType keys) { return keys == KeyType::float32 ? 1024 : 512; }

template <class T>
const CutInstance<T>* find_cut_instance(const Problem& problem, const Configuration& configuration) {
    for (const CutInstance<T>& instance : cuts<T>())
        if (instance.per_thread == configuration["per_thread"] &&
            problem.columns <= std::int64_t{instance.per_thread} * instance.threads)
            return &instance;
    return nullptr;
}

template <class T>
struct SortInstance {
    int registers;
    void (*kernel)(std::int64_t, int, int, T*, std::int32_t*);
};

template <class T>
constexpr std::array kSorts{SortInstance<T>{2, sort_lists<T, 2>}, SortInstance<T>{4, sort_lists<T, 4>},
                            SortInstance<T>{8, sort_lists<T, 8>}, SortInstance<T>{16, sort_lists<T, 16>},
                            SortInstance<T>{32, sort_lists<T, 32>}};

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (!problem.has_rows()) return Support::no("reads rows: needs layout=row_major");
    if (problem.k > kMaxSmallestK) return Support::no("k above 1,024");
    const int threads = most_threads(problem.keys), columns = configuration["per_thread"] * threads;
    if (problem.columns > columns)
        return Support::no("a block of " + std::string(threads == 1024 ? "1,024" : "512") +
                           " threads holds rows of up to " + std::to_string(columns) + " columns");
    if (problem.rows > 2147483647) return Support::no("more than 2,147,483,647 rows exceed the grid");
    return Support::yes();
}

template <class T>
void sort(const Context& context, const Problem& problem, const Buffers& buffers) {
    const int count = static_cast<int>(std::min(problem.columns, problem.k));
    const SortInstance<T>& instance =
        *std::ranges::find_if(kSorts<T>, [&](const SortInstance<T>& s) { return count <= s.registers * kLanes; });
    const int warps = warps_for(instance.registers);
    launch(instance.kernel, dim3(static_cast<unsigned>((problem.rows + warps - 1) / warps)),
           dim3(kLanes, static_cast<unsigned>(warps)), 0, context.stream, problem.rows, count,
           static_cast<int>(problem.k), values_of<T>(buffers), buffers.indices);
}

template <class T>
void select(const Context& context, const Problem& problem, const Buffers& buffers,
            const Configuration& configuration) {
    const CutInstance<T>& instance = *find_cut_instance<T>(problem, configuration);
    const T* const keys = keys_of<T>(buffers);
    launch(instance.kernel, dim3(static_cast<unsigned>(problem.rows)), dim3(static_cast<unsigned>(instance.threads)), 0,
           context.stream, static_cast<int>(problem.columns), static_cast<int>(problem.k),
           has_aligned_rows(keys, problem.columns), keys, values_of<T>(buffers), buffers.indices);
    if (problem.order == ListOrder::ascending) sort<T>(context, problem, buffers);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    with_key_type(problem.keys,
                  [&]<class T>(std::type_identity<T>) { select<T>(context, problem, buffers, configuration); });
}

}  // namespace

Variant<Problem> block_cut_rows() {
    return {
        .role = Role::modern,
        .summary = "a block per row in registers takes the k smallest exactly, then a warp per list sorts, if asked",
        .limits = "row-major or a single row; 32,768 columns, of other types than float32 16,384; k <= 1,024",
        .tolerance = {.reason = "selects, computes nothing"},
        .space = {{"per_thread", {16, 32}}},
        .optional_features = {"layout", "order", "keys"},
        .supports = supports,
        .run = run};
}

}  // namespace espalier::smallest_k
