#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "device/kernel.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/packed_sort.cuh"
#include "variants/smallest_k/row_threshold.cuh"

/// A warp sorts up to 1,024 entries that lie in its shared memory. What goes through the network are 32 bits of each:
/// as much of its key as its place in the list leaves, measured from the list's least key and scaled to the list's
/// range, which for a cut row is less than the row's. Registers hold nothing but these, so that twice as many warps fit
/// a multiprocessor as with keys and columns beside them. Only neighbours of which these bits are the same are looked
/// up and, if they stand wrong, exchanged. A list of a few values has long runs of them: it goes through the network
/// once more, by the run's number and the column. Where many are alike but not equal, it is sorted in 64 bits, in
/// shared memory.
namespace espalier::smallest_k {
namespace {

/// What a warp sorts in: entries, and where each of them comes.
template <int registers>
struct SortSpace {
    static constexpr int kPlaces = registers * kLanes;
    /// A gap after every 32: lanes with neighbouring runs meet in no bank.
    static constexpr int padded(int place) { return place + place / kLanes; }

    std::uint64_t entries[RawList::room_for(kPlaces)];
    std::uint32_t sorted[padded(kPlaces)];
};

template <int registers, class T = float>
class WarpSort {
public:
    using Value = Compared<T>;
    using Space = SortSpace<registers>;
    static constexpr int kPlaces = Space::kPlaces;

    /// Of `count` raw entries in `space`, of which all lanes know.
    __device__ WarpSort(Space& space, int count, unsigned lane)
        : space_(space), raw_{space.entries}, count_(count), lane_(lane) {}

    /// Writes the first k of them in order, then entries without an element.
    __device__ void write(int k, T* values, std::int32_t* indices) {
        std::uint32_t packed[registers];
        pack_keys(packed);
        sort_into(space_.sorted, packed);
        if (settle_alike())
            return write_entries(k, values, indices, [&](int j) { return sortable<Value>(raw_[place_of(sorted(j))]); });
        if (!pack_runs(packed)) {
            sort_whole();
            return write_entries(k, values, indices, [&](int j) { return raw_[j]; });
        }
        auto* const columns = reinterpret_cast<std::uint32_t*>(space_.entries);
        sort_into(columns, packed);
        write_entries(k, values, indices, [&](int j) {
            const std::uint32_t found = columns[Space::padded(j)];
            return entry_of(sorted(static_cast<int>(found >> kColumnBits)), found & kColumnMask);
        });
    }

private:
    static constexpr int kPlaceBits = std::bit_width(static_cast<unsigned>(kPlaces - 1));
    static constexpr int kColumnBits = 32 - kPlaceBits;
    static constexpr std::uint32_t kColumnMask = (std::uint32_t{1} << kColumnBits) - 1;

    __device__ static int place_of(std::uint32_t packed) { return static_cast<int>(packed & (kPlaces - 1)); }

    __device__ std::uint32_t& sorted(int place) { return space_.sorted[Space::padded(place)]; }

    /// `entry(j)`: the j-th, for j below the count.
    template <class Entry>
    __device__ void write_entries(int k, T* values, std::int32_t* indices, Entry&& entry) const {
        for (int j = static_cast<int>(lane_); j < k; j += kLanes) {
            const std::uint64_t found = j < count_ ? entry(j) : kEmptyEntry;
            values[j] = to_store<T>(value_as<Value>(key_of_entry(found)));
            indices[j] = index_of_entry(found);
        }
    }

    __device__ std::uint32_t key_at(int place) const {
        return place < count_ ? key_of(value_of_raw<Value>(raw_[place])) : kEmptyKey;
    }

    /// Keys and places of the entries, in no order. A place without an entry is all ones, after every other one.
    __device__ void pack_keys(std::uint32_t (&packed)[registers]) const {
        std::uint32_t least = kEmptyKey, most = 0;
        const int first = static_cast<int>(lane_);
#pragma unroll
        for (int r = 0; r < registers; ++r) {
            packed[r] = key_at(r * kLanes + first);
            least = std::min(least, packed[r]);
            // Of int32 kEmptyKey is INT32_MAX's, too.
            const bool empty = std::is_same_v<T, std::int32_t> ? r * kLanes + first >= count_ : packed[r] == kEmptyKey;
            most = std::max(most, empty ? 0 : packed[r]);
        }
        least = __reduce_min_sync(kAll, least), most = __reduce_max_sync(kAll, most);
        const int shift = std::max(static_cast<int>(std::bit_width(most - least)) - (32 - kPlaceBits), 0);
#pragma unroll
        for (int r = 0; r < registers; ++r) {
            const int place = r * kLanes + first;
            packed[r] = place < count_ ? (packed[r] - least) >> shift << kPlaceBits | static_cast<std::uint32_t>(place)
                                       : 0xFFFFFFFF;
        }
    }

    __device__ void sort_into(std::uint32_t* list, std::uint32_t (&packed)[registers]) const {
        sort_in_registers<kPlaces>(packed, lane_);
        __syncwarp();
        const int first = static_cast<int>(lane_) * registers;
#pragma unroll
        for (int r = 0; r < registers; ++r) list[Space::padded(first + r)] = packed[r];
        __syncwarp();
    }

    /// Puts runs right whose packed keys do not tell them apart, unless there are long ones. Returns whether it did.
    __device__ bool settle_alike() {
        constexpr int kPasses = 4;  // of two exchanges each: enough for runs of twice as many
        if (!exchange_alike()) return true;
        if (has_runs_beyond(2 * kPasses)) return false;
        for (int pass = 1; pass < kPasses && exchange_alike(); ++pass) {
        }
        return true;
    }

    __device__ bool has_runs_beyond(int length) {
        bool found = false;
        for (int i = static_cast<int>(lane_); i + length < count_; i += kLanes)
            found |= (sorted(i) ^ sorted(i + length)) >> kPlaceBits == 0;
        return __any_sync(kAll, found) != 0;
    }

    /// Puts neighbours right whose packed keys do not tell them apart. Returns whether any stood wrong.
    __device__ bool exchange_alike() {
        bool wrong = false;
        for (int odd = 0; odd < 2; ++odd) {
            for (int i = 2 * static_cast<int>(lane_) + odd; i + 1 < count_; i += 2 * kLanes) {
                std::uint32_t &first = sorted(i), &second = sorted(i + 1);
                const std::uint32_t a = first, b = second;
                if ((a ^ b) >> kPlaceBits != 0) continue;
                if (sortable<Value>(raw_[place_of(a)]) < sortable<Value>(raw_[place_of(b)])) continue;
                first = b, second = a, wrong = true;
            }
            __syncwarp();
        }
        return __any_sync(kAll, wrong) != 0;
    }

    /// Whether the entry at a sorted place begins a run of packed keys that are the same. A place without an entry
    /// begins none.
    __device__ bool begins_run(int place, std::uint32_t packed, std::uint32_t before) const {
        return place < count_ && (place == 0 || (packed ^ before) >> kPlaceBits != 0);
    }

    /// The numbers of runs of packed keys that are the same, and columns, if each run is of one key: then `sorted` has
    /// the runs' keys. Returns false, and nothing has changed, if not.
    __device__ bool pack_runs(std::uint32_t (&packed)[registers]) {
        const int first = static_cast<int>(lane_) * registers;
        const std::uint32_t before_mine = sorted(std::max(first - 1, 0));
        int runs = 0;
        bool mixed = false;
#pragma unroll
        for (int r = 0; r < registers; ++r) {
            packed[r] = sorted(first + r);
            const std::uint32_t before = r == 0 ? before_mine : packed[r - 1];
            if (begins_run(first + r, packed[r], before))
                ++runs;
            else if (first + r < count_)
                mixed |= key_at(place_of(packed[r])) != key_at(place_of(before));
        }
        if (__any_sync(kAll, mixed)) return false;
        __syncwarp();
        WarpGroup group;
        int all = 0, run = group.before(runs, all) - 1;
        std::uint32_t before = before_mine;
#pragma unroll
        for (int r = 0; r < registers; ++r) {
            const std::uint32_t mine = packed[r];
            const std::uint64_t raw = first + r < count_ ? raw_[place_of(mine)] : 0;
            if (begins_run(first + r, mine, before)) sorted(++run) = key_of(value_of_raw<Value>(raw));
            packed[r] = first + r < count_ ? static_cast<std::uint32_t>(run) << kColumnBits |
                                                 (static_cast<std::uint32_t>(raw) & kColumnMask)
                                           : 0xFFFFFFFF;
            before = mine;
        }
        return true;
    }

    /// A bitonic network of whole entries, run by run from both ends. Few lists need it, so that it takes no registers.
    __device__ void sort_whole() {
        int padded = kLanes;
        while (padded < count_) padded *= 2;
        for (int i = static_cast<int>(lane_); i < padded; i += kLanes)
            raw_[i] = i < count_ ? sortable<Value>(raw_[i]) : kEmptyEntry;
        for (int size = 2; size <= padded; size *= 2)
            for (int stride = size / 2; stride > 0; stride /= 2) {
                __syncwarp();
                const int flip = stride == size / 2 ? size - 1 : stride;
#pragma unroll 1
                for (int i = static_cast<int>(lane_); i < padded / 2; i += kLanes) {
                    const int low = 2 * i - (i & (stride - 1));
                    put_in_order(raw_[low], raw_[low ^ flip]);
                }
            }
        __syncwarp();
    }

    Space& space_;
    RawList raw_;
    int count_;
    unsigned lane_;
};

}  // namespace
}  // namespace espalier::smallest_k
