// Row-major rows of up to 2,048 columns, each in the registers of a warp or a part of one, cut like those of warp_rows
// (row_cut.cuh). Half of what warp_rows takes for k = 32 goes into sorting the 40 elements that are left of each row,
// 64 bits each, a whole warp for one row after the other. Here all rows of a warp are sorted at once, 32 bits of each
// element, several in the registers of a lane (packed_sort.cuh): a quarter of the instructions.
//
// The 32 bits are the leading ones of the key, measured from the list's least, and the place in the list. What a cut
// takes is listed in the order of its columns, so that equal keys come in the right order by their places. Different
// keys with the same leading bits may not, where the list's keys are far apart: such neighbours are compared in full,
// and if one pair stands wrong the places of all are counted.
//
// `lanes` per row: several short rows share a warp.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/lane_rows.cuh"
#include "variants/smallest_k/packed_sort.cuh"
#include "variants/smallest_k/row_cut.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

/// What a row has of the shared memory. Lists and orders of rows that are read together meet in no bank.
template <int lanes, class Size>
struct RowSpace {
    static constexpr int kRegisters = std::max(Size::kCapacity / lanes, 1), kPlaces = kRegisters * lanes;
    static constexpr int padded(int place) { return place + place / kRegisters; }

    std::uint64_t entries[Size::kCapacity + lanes];  ///< raw, in the order of their columns, ties with the cut last
    std::uint32_t order[kPlaces + lanes];            ///< the entries' places, with bits of their keys above them
};

/// Writes what the cut takes to `to`, raw, in the order of the columns. Returns how many there are.
template <int capacity, int together, class Group, class Value, int count>
__device__ int take_in_order(Group& group, const Value (&values)[count], const Cut<Value>& cut, int columns,
                             std::uint64_t* to) {
    using Of = Numbers<Value>;
    // How many are taken of the lane's vectors, several counts to a word, whose sums do not overflow.
    constexpr int kBits = capacity < 128 ? 8 : 16, kCounts = 32 / kBits, kOfWord = kCounts * together;
    constexpr int kWords = (count + kOfWord - 1) / kOfWord;
    std::uint32_t counts[kWords] = {};
#pragma unroll
    for (int i = 0; i < count; ++i)
        counts[i / kOfWord] += Of::within(values[i], cut.bound) ? 1U << i % kOfWord / together * kBits : 0;
    int first = 0;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
        int total = 0;
        const int before = group.before(static_cast<int>(counts[w]), total);
#pragma unroll
        for (int i = w * kOfWord; i < std::min(count, (w + 1) * kOfWord); i += together) {
            const int shift = i % kOfWord / together * kBits;
            std::uint64_t* place = to + first + (before >> shift & ((1 << kBits) - 1));
#pragma unroll
            for (int e = 0; e < together; ++e)
                if (Of::within(values[i + e], cut.bound))
                    *place++ = raw_entry(values[i + e], column_of<together>(group, i + e));
            first += total >> shift & ((1 << kBits) - 1);
        }
    }
    if (group.any(cut.ties > 0)) first += take_ties<together>(group, values, cut, columns, to + cut.count);
    return first;
}

/// Sorts the lists of a warp's rows, each by its group, and writes their first k.
template <class T, int lanes, class Size>
class PackedRows {
public:
    using Value = Compared<T>;
    using Space = RowSpace<lanes, Size>;

    /// `count` raw entries in `space`, of which all lanes know.
    __device__ PackedRows(Space& space, int count) : space_(space), count_(count) {}

    __device__ void sort() {
        std::uint32_t packed[kRegisters];
        const bool exact = pack(packed);
        sort_in_registers<Space::kPlaces>(packed, static_cast<unsigned>(group_.rank()));
#pragma unroll
        for (int r = 0; r < kRegisters; ++r) space_.order[Space::padded(group_.rank() * kRegisters + r)] = packed[r];
        __syncwarp();
        // All lanes ask, as some of a warp's rows may have to.
        if (!group_.any(!exact) || !group_.any(any_alike(packed)) || !group_.any(stands_wrong())) return;
        __syncwarp();  // `any` waits for the lanes, not for what they read
        count_places();
        __syncwarp();
    }

    /// Then entries without an element.
    __device__ void write(int k, T* values, std::int32_t* indices) const {
        for (int j = group_.rank(); j < k; j += lanes) {
            const bool filled = j < count_;
            const std::uint64_t raw = filled ? space_.entries[place_at(j)] : 0;
            values[j] = to_store<T>(filled ? value_of_raw<Value>(raw) : Numbers<Value>::kNone);
            indices[j] = filled ? static_cast<std::int32_t>(raw) : kNoIndex;
        }
    }

private:
    static constexpr int kRegisters = Space::kRegisters;
    static constexpr int kPlaceBits = std::bit_width(static_cast<unsigned>(Space::kPlaces - 1));
    static constexpr std::uint32_t kNoPlace = 0xFFFFFFFF;  ///< after every other one

    [[nodiscard]] __device__ int place_at(int j) const {
        return static_cast<int>(space_.order[Space::padded(j)] & (Space::kPlaces - 1));
    }
    [[nodiscard]] __device__ std::uint64_t sorted_entry(int j) const {
        return sortable<Value>(space_.entries[place_at(j)]);
    }

    /// Returns whether the bits hold the keys whole.
    __device__ bool pack(std::uint32_t (&packed)[kRegisters]) {
        std::uint32_t least = kEmptyKey, most = 0;
#pragma unroll
        for (int r = 0; r < kRegisters; ++r) {
            const int place = r * lanes + group_.rank();
            packed[r] = kNoPlace;
            if (place >= count_) continue;
            packed[r] = key_of(value_of_raw<Value>(space_.entries[place]));
            least = std::min(least, packed[r]), most = std::max(most, packed[r]);
        }
        group_.extremes(least, most);
        const int shift = std::max(static_cast<int>(std::bit_width(most - least)) - (32 - kPlaceBits), 0);
#pragma unroll
        for (int r = 0; r < kRegisters; ++r) {
            const int place = r * lanes + group_.rank();
            if (place < count_)
                packed[r] = (packed[r] - least) >> shift << kPlaceBits | static_cast<std::uint32_t>(place);
        }
        // What does not fit the 32 bits are zeros of a number that has 16.
        if constexpr (sizeof(T) == 2) return true;
        return shift == 0;
    }

    /// Whether neighbours of the lane have the same bits of their keys, the next lane's first among them.
    __device__ bool any_alike(const std::uint32_t (&packed)[kRegisters]) const {
        const std::uint32_t after = __shfl_down_sync(kAll, packed[0], 1, lanes);
        bool alike = false;
#pragma unroll
        for (int r = 0; r < kRegisters; ++r) {
            const bool last = r + 1 == kRegisters;
            const std::uint32_t next = last ? after : packed[last ? r : r + 1];
            const bool exists = next != kNoPlace && (!last || group_.rank() + 1 < lanes);
            alike = alike || (exists && (packed[r] ^ next) >> kPlaceBits == 0);
        }
        return alike;
    }

    [[nodiscard]] __device__ bool stands_wrong() const {
        bool wrong = false;
        for (int j = group_.rank(); j + 1 < count_; j += lanes) wrong = wrong || sorted_entry(j + 1) < sorted_entry(j);
        return wrong;
    }

    /// The place of an entry is how many come before it.
    __device__ void count_places() {
        for (int place = group_.rank(); place < count_; place += lanes) {
            const std::uint64_t entry = sortable<Value>(space_.entries[place]);
            int before = 0;
            for (int other = 0; other < count_; ++other)
                before += sortable<Value>(space_.entries[other]) < entry ? 1 : 0;
            space_.order[Space::padded(before)] = static_cast<std::uint32_t>(place);
        }
    }

    Space& space_;
    int count_;
    LaneGroup<lanes> group_;
};

/// A warp takes 32 / lanes rows, each `per_lane` registers of every lane.
template <class T, int lanes, int per_lane, class Size>
__global__ void __launch_bounds__(kLanes* kWarps)
    select_packed(Problem problem, bool aligned, const T* distances, T* values, std::int32_t* indices) {
    using Value = Compared<T>;
    constexpr int kRows = kLanes / lanes, kParts = std::min(per_lane, std::max(4 * Size::kMost / lanes, kVector));
    const int own = static_cast<int>(threadIdx.x) / lanes, k = static_cast<int>(problem.k);
    auto& space = shared<RowSpace<lanes, Size>[kWarps][kRows], struct PackedSpace>()[threadIdx.y][own];
    LaneGroup<lanes> group;
    const std::int64_t row = (static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.y) * kRows + own;
    const int columns = row < problem.rows ? static_cast<int>(problem.columns) : 0;

    Value elements[per_lane];
    load_stripe(group, elements, distances + row * problem.columns, columns, aligned);
    const Cut<Value> cut =
        find_cut<kParts>(group, elements, Numbers<Value>::kLastKey, k, k, Size::kSlack, Size::kCapacity);
    const int taken = take_in_order<Size::kCapacity, kVectorOf<T>>(group, elements, cut, columns, space.entries);
    __syncwarp();
    PackedRows<T, lanes, Size> list(space, taken);
    list.sort();
    if (row < problem.rows) list.write(k, values + row * k, indices + row * k);
}

template <class T, int lanes, int per_lane, class Size>
constexpr LaneKernel<T> instance() {
    return {lanes, lanes * per_lane, Size::kMost, select_packed<T, lanes, per_lane, Size>};
}

/// By lanes; the first that fits is taken.
constexpr std::array kFloatInstances{
    instance<float, 32, 8, Small>(),   instance<float, 32, 16, Small>(),  instance<float, 32, 32, Small>(),
    instance<float, 32, 64, Small>(),  instance<float, 32, 8, Medium>(),  instance<float, 32, 16, Medium>(),
    instance<float, 32, 32, Medium>(), instance<float, 32, 64, Medium>(), instance<float, 32, 16, Large>(),
    instance<float, 32, 32, Large>(),  instance<float, 32, 64, Large>(),  instance<float, 16, 8, Small>(),
    instance<float, 16, 16, Small>(),  instance<float, 16, 32, Small>(),  instance<float, 16, 8, Medium>(),
    instance<float, 16, 16, Medium>(), instance<float, 16, 32, Medium>(), instance<float, 8, 8, Small>(),
    instance<float, 8, 16, Small>(),   instance<float, 8, 32, Small>(),   instance<float, 8, 8, Medium>(),
    instance<float, 8, 16, Medium>(),  instance<float, 8, 32, Medium>(),  instance<float, 4, 8, Small>(),
    instance<float, 4, 16, Small>(),   instance<float, 4, 32, Small>(),   instance<float, 4, 16, Medium>(),
    instance<float, 4, 32, Medium>()};

/// The same without the shortest rows, whose 8 registers of a lane are one vector of 16-bit numbers.
template <class T>
constexpr std::array kOtherInstances{
    instance<T, 32, 16, Small>(),  instance<T, 32, 32, Small>(),  instance<T, 32, 64, Small>(),
    instance<T, 32, 16, Medium>(), instance<T, 32, 32, Medium>(), instance<T, 32, 64, Medium>(),
    instance<T, 32, 16, Large>(),  instance<T, 32, 32, Large>(),  instance<T, 32, 64, Large>(),
    instance<T, 16, 16, Small>(),  instance<T, 16, 32, Small>(),  instance<T, 16, 16, Medium>(),
    instance<T, 16, 32, Medium>(), instance<T, 8, 16, Small>(),   instance<T, 8, 32, Small>(),
    instance<T, 8, 16, Medium>(),  instance<T, 8, 32, Medium>(),  instance<T, 4, 16, Small>(),
    instance<T, 4, 32, Small>(),   instance<T, 4, 16, Medium>(),  instance<T, 4, 32, Medium>()};

template <class T>
constexpr std::span<const LaneKernel<T>> instances() {
    if constexpr (std::is_same_v<T, float>)
        return kFloatInstances;
    else
        return kOtherInstances<T>;
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    return with_key_type(problem.keys, [&]<class T>(std::type_identity<T>) {
        return supports_lanes<T>(instances<T>(), problem, configuration["lanes"]);
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    with_key_type(problem.keys, [&]<class T>(std::type_identity<T>) {
        run_lanes<T>(instances<T>(), context, problem, buffers, configuration["lanes"]);
    });
}

}  // namespace

Variant<Problem> warp_packed_rows() {
    return {.role = Role::modern,
            .summary = "as warp_rows; what is left of all rows of a warp is sorted at once, 32 bits of each element",
            .limits = "row-major or a single row; 2,048 columns, k <= 128 with 32 lanes",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"lanes", {32, 16, 8, 4}}},
            .optional_features = {"layout", "keys"},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
