// Row-major rows of up to 2,048 columns, each in the registers of a warp, for lists of a good part of the row: the row
// is cut by interpolation (row_threshold.cuh), what is left is sorted by 32 bits of each entry (warp_sort.cuh). In
// any order it is not sorted, and a cut that takes k elements exactly is all there is to do.
//
// `room`: a cut may take up to as many elements as the network sorts, which is the next power of two to k, or the
// second next: a wider one sorts more and is found by fewer probes.

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/row_threshold.cuh"
#include "variants/smallest_k/warp_sort.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

constexpr int kMostPlaces = 1024;

/// Warps per block; they have nothing to do with each other. Four of the largest sort exceed a block's static memory.
constexpr int warps_for(int places) { return places < kMostPlaces ? 4 : 2; }

template <int per_lane, class T>
__device__ int gather_row(const Problem& problem, bool aligned, const T* row, int k, int capacity, RawList to) {
    WarpGroup group;
    const int columns = static_cast<int>(problem.columns);
    Compared<T> elements[per_lane];
    load_stripe(group, elements, row, columns, aligned);
    const Cut<Compared<T>> cut = find_threshold(group, elements, k, capacity);
    const int taken = gather<kVectorOf<T>>(group, elements, cut, columns, to);
    __syncwarp();
    return taken;
}

template <class T, int per_lane, int registers>
__global__ void __launch_bounds__(kLanes* warps_for(registers* kLanes))
    sort_cut_rows(Problem problem, bool aligned, const T* distances, T* values, std::int32_t* indices) {
    constexpr int kWarps = warps_for(registers * kLanes);
    auto& space = shared<SortSpace<registers>[kWarps], struct CutSpace>()[threadIdx.y];
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.y;
    if (row >= problem.rows) return;
    const int k = static_cast<int>(problem.k);
    const int taken = gather_row<per_lane>(problem, aligned, distances + row * problem.columns, k, registers * kLanes,
                                           {space.entries});
    WarpSort<registers, T>(space, taken, threadIdx.x).write(k, values + row * k, indices + row * k);
}

template <class T, int per_lane, int places>
__global__ void __launch_bounds__(kLanes* warps_for(places))
    cut_rows(Problem problem, bool aligned, const T* distances, T* values, std::int32_t* indices) {
    constexpr int kWarps = warps_for(places);
    auto& entries = shared<std::uint64_t[kWarps][RawList::room_for(places)], struct CutEntries>()[threadIdx.y];
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.y;
    if (row >= problem.rows) return;
    const int k = static_cast<int>(problem.k);
    const int taken = gather_row<per_lane>(problem, aligned, distances + row * problem.columns, k, k, {entries});
    write_list({entries}, taken, k, values + row * k, indices + row * k, static_cast<int>(threadIdx.x), kLanes);
}

template <class T>
using Kernel = void (*)(Problem, bool, const T*, T*, std::int32_t*);

template <class T>
struct Instance {
    int columns, places;
    Kernel<T> sorted, any;
};

template <class T, int per_lane, int registers>
constexpr Instance<T> instance() {
    return {kLanes * per_lane, kLanes * registers, sort_cut_rows<T, per_lane, registers>,
            cut_rows<T, per_lane, kLanes * registers>};
}

/// The first that holds the row and what is taken of it.
template <class T>
constexpr std::array kInstances{
    instance<T, 16, 2>(), instance<T, 16, 4>(), instance<T, 16, 8>(),  instance<T, 16, 16>(), instance<T, 32, 2>(),
    instance<T, 32, 4>(), instance<T, 32, 8>(), instance<T, 32, 16>(), instance<T, 32, 32>(), instance<T, 64, 2>(),
    instance<T, 64, 4>(), instance<T, 64, 8>(), instance<T, 64, 16>(), instance<T, 64, 32>()};

/// What the network sorts; in any order, room for the k.
std::int64_t places_for(const Problem& problem, const Configuration& configuration) {
    const auto k = std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(problem.k, 1)));
    return static_cast<std::int64_t>(k) * (problem.order == ListOrder::any ? 1 : configuration["room"]);
}

template <class T>
const Instance<T>* find_instance(const Problem& problem, const Configuration& configuration) {
    const std::int64_t places = places_for(problem, configuration);
    for (const Instance<T>& instance : kInstances<T>)
        if (problem.columns <= instance.columns && places <= instance.places) return &instance;
    return nullptr;
}

std::int64_t blocks_of(const Problem& problem, int places) {
    return (problem.rows + warps_for(places) - 1) / warps_for(places);
}

template <class T>
Support supports_keys(const Problem& problem, const Configuration& configuration) {
    if (!problem.has_rows()) return Support::no("reads rows: needs layout=row_major");
    if (problem.order == ListOrder::any && configuration["room"] != 1)
        return Support::no("room has no meaning without a sort");
    const Instance<T>* instance = find_instance<T>(problem, configuration);
    if (!instance)
        return Support::no("a warp holds rows of up to 2,048 columns and sorts up to " + std::to_string(kMostPlaces) +
                           " entries, room times the next power of two to k");
    if (blocks_of(problem, instance->places) > 2147483647)
        return Support::no("more than 2,147,483,647 blocks exceed the grid");
    return Support::yes();
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    return with_key_type(problem.keys,
                         [&]<class T>(std::type_identity<T>) { return supports_keys<T>(problem, configuration); });
}

template <class T>
void run_keys(const Context& context, const Problem& problem, const Buffers& buffers,
              const Configuration& configuration) {
    const Instance<T>& instance = *find_instance<T>(problem, configuration);
    const T* const keys = keys_of<T>(buffers);
    launch(problem.order == ListOrder::any ? instance.any : instance.sorted,
           dim3(static_cast<unsigned>(blocks_of(problem, instance.places))),
           dim3(kLanes, static_cast<unsigned>(warps_for(instance.places))), 0, context.stream, problem,
           has_aligned_rows(keys, problem.columns), keys, values_of<T>(buffers), buffers.indices);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    with_key_type(problem.keys,
                  [&]<class T>(std::type_identity<T>) { run_keys<T>(context, problem, buffers, configuration); });
}

}  // namespace

Variant<Problem> warp_cut_rows() {
    return {.role = Role::modern,
            .summary = "a warp per row in registers, cut by interpolation, the rest sorted by 32 bits or not at all",
            .limits = "row-major or a single row; 2,048 columns, k <= 1,024",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"room", {1, 2}}},
            .optional_features = {"layout", "order", "keys"},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
