// Row-major rows of up to 1,024 columns, each sorted whole in the registers of a warp: what is left where k is a good
// part of the row, so that no cut leaves little. What is sorted are 32 bits, in which a comparison is one instruction:
// the upper bits of an element's key, measured from the row's least and scaled to the row's range, and its column.
// Elements of which these bits are not enough end up beside each other. They are told apart by their whole keys
// afterwards, neighbours exchanged until all stand right; a row in which many are alike but not equal is sorted again
// in 64 bits.

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/packed_sort.cuh"
#include "variants/smallest_k/row_cut.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

constexpr int kWarps = 4;   ///< per block; they have nothing to do with each other
constexpr int kPasses = 4;  ///< of exchanging neighbours, before the row is sorted in 64 bits

struct Lanes {
    static constexpr int kSize = kLanes;
    __device__ int rank() const { return static_cast<int>(threadIdx.x); }
};

/// Whether some entry comes before the one in front of it.
template <int registers>
__device__ bool in_disorder(const std::uint64_t (&entries)[registers], unsigned lane) {
    bool wrong = false;
#pragma unroll
    for (int r = 0; r + 1 < registers; ++r) wrong = wrong || entries[r + 1] < entries[r];
    const std::uint64_t next = __shfl_down_sync(kAll, entries[0], 1);
    return __any_sync(kAll, wrong || (lane + 1 < kLanes && next < entries[registers - 1])) != 0;
}

/// Puts every other pair of neighbours right, then the pairs between them.
template <int registers>
__device__ void exchange_neighbours(std::uint64_t (&entries)[registers], unsigned lane) {
#pragma unroll
    for (int r = 0; r + 1 < registers; r += 2) put_in_order(entries[r], entries[r + 1]);
#pragma unroll
    for (int r = 1; r + 1 < registers; r += 2) put_in_order(entries[r], entries[r + 1]);
    const std::uint64_t next = __shfl_down_sync(kAll, entries[0], 1);
    const std::uint64_t before = __shfl_up_sync(kAll, entries[registers - 1], 1);
    if (lane + 1 < kLanes) entries[registers - 1] = std::min(entries[registers - 1], next);
    if (lane > 0) entries[0] = std::max(entries[0], before);
}

/// Where place p lies in shared memory, so that lanes with neighbouring runs meet in no bank.
__device__ constexpr int padded(int place) { return place + place / kLanes; }

template <int registers>
struct Row {
    static constexpr int kPlaces = registers * kLanes;
    static constexpr int kColumnBits = std::bit_width(static_cast<unsigned>(kPlaces - 1));
    static constexpr std::uint32_t kNoElement = 0xFFFFFFFF;

    float* values;  ///< padded(kPlaces) of them, of this warp

    __device__ void load(const float* row, int columns, bool aligned, std::uint32_t (&keys)[registers]) const {
        const Lanes lanes;
        float loaded[registers];
        load_stripe(lanes, loaded, row, columns, aligned);
#pragma unroll
        for (int r = 0; r < registers; ++r) {
            const int column = column_of(lanes, r);
            values[padded(column)] = loaded[r];
            keys[r] = column < columns ? key_of(loaded[r]) : kEmptyKey;
        }
    }

    /// Keys in as many bits as the columns leave, in an order that contradicts theirs nowhere.
    __device__ static void pack(const std::uint32_t (&keys)[registers], std::uint32_t (&packed)[registers]) {
        std::uint32_t least = kEmptyKey, most = 0;
#pragma unroll
        for (int r = 0; r < registers; ++r) {
            least = std::min(least, keys[r]);
            most = std::max(most, keys[r] == kEmptyKey ? 0 : keys[r]);
        }
        least = __reduce_min_sync(kAll, least), most = __reduce_max_sync(kAll, most);
        const int shift = std::max(static_cast<int>(std::bit_width(most - least)) - (32 - kColumnBits), 0);
#pragma unroll
        for (int r = 0; r < registers; ++r)
            packed[r] = keys[r] == kEmptyKey ? kNoElement
                                             : (keys[r] - least) >> shift << kColumnBits |
                                                   static_cast<std::uint32_t>(column_of(Lanes(), r));
    }

    __device__ std::uint64_t entry_of_packed(std::uint32_t packed, int columns) const {
        const auto column = static_cast<int>(packed & (kPlaces - 1));
        if (column >= columns) return kEmptyEntry;
        return entry_of(key_of(values[padded(column)]), static_cast<std::uint32_t>(column));
    }

    /// Lanes hold neighbouring places; the memory wants neighbouring lanes.
    template <class T, class Of>
    __device__ void write(const std::uint64_t (&entries)[registers], int k, T* to, Of of, unsigned lane) const {
        T* const places = reinterpret_cast<T*>(values);
        static_assert(sizeof(T) == sizeof(float));
        __syncwarp();
#pragma unroll
        for (int r = 0; r < registers; ++r) places[padded(static_cast<int>(lane) * registers + r)] = of(entries[r]);
        __syncwarp();
        for (int j = static_cast<int>(lane); j < k; j += kLanes) to[j] = places[padded(j)];
    }
};

template <int registers>
__global__ void __launch_bounds__(kLanes* kWarps)
    select_rows(Problem problem, bool aligned, const float* distances, float* values, std::int32_t* indices) {
    using Elements = Row<registers>;
    auto& buffers = shared<float[kWarps][padded(Elements::kPlaces)], struct RowValues>();
    const unsigned lane = threadIdx.x;
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.y;
    if (row >= problem.rows) return;
    const int columns = static_cast<int>(problem.columns), k = static_cast<int>(problem.k);
    const Elements elements{buffers[threadIdx.y]};

    std::uint32_t packed[registers];
    {
        std::uint32_t keys[registers];
        elements.load(distances + row * problem.columns, columns, aligned, keys);
        Elements::pack(keys, packed);
    }
    sort_in_registers<Elements::kPlaces>(packed, lane);
    __syncwarp();
    std::uint64_t entries[registers];
#pragma unroll
    for (int r = 0; r < registers; ++r) entries[r] = elements.entry_of_packed(packed[r], columns);
    int passes = 0;
    while (in_disorder(entries, lane)) {
        if (passes++ == kPasses)
            sort_in_registers<Elements::kPlaces>(entries, lane);
        else
            exchange_neighbours(entries, lane);
    }
    elements.write(
        entries, k, values + row * k, [](std::uint64_t entry) { return value_of(key_of_entry(entry)); }, lane);
    elements.write(
        entries, k, indices + row * k, [](std::uint64_t entry) { return index_of_entry(entry); }, lane);
}

struct Instance {
    int columns;
    void (*kernel)(Problem, bool, const float*, float*, std::int32_t*);
};

template <int registers>
constexpr Instance instance() {
    return {Row<registers>::kPlaces, select_rows<registers>};
}

/// The first that holds the row is taken.
constexpr std::array kInstances{instance<4>(), instance<8>(), instance<16>(), instance<32>()};

const Instance* find_instance(const Problem& problem) {
    for (const Instance& instance : kInstances)
        if (std::max(problem.columns, problem.k) <= instance.columns) return &instance;
    return nullptr;
}

std::int64_t blocks_of(const Problem& problem) { return (problem.rows + kWarps - 1) / kWarps; }

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (!problem.has_rows()) return Support::no("reads rows: needs layout=row_major");
    if (!find_instance(problem))
        return Support::no("a warp holds rows of up to " + std::to_string(kInstances.back().columns) + " columns");
    if (blocks_of(problem) > 2147483647) return Support::no("more than 2,147,483,647 blocks exceed the grid");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.results() == 0) return;
    const bool aligned =
        problem.columns % kVector == 0 && reinterpret_cast<std::uintptr_t>(buffers.distances) % sizeof(float4) == 0;
    launch(find_instance(problem)->kernel, dim3(static_cast<unsigned>(blocks_of(problem))), dim3(kLanes, kWarps), 0,
           context.stream, problem, aligned, buffers.distances, buffers.values, buffers.indices);
}

}  // namespace

Variant<Problem> warp_sort_rows() {
    return {.role = Role::modern,
            .summary = "a warp per row sorts all of it in registers, 32 bits of key and column first",
            .limits = "row-major or a single row; 1,024 columns",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {},
            .optional_features = {"layout"},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
