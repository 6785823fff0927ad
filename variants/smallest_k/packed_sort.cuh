#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "device/kernel.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/row_threshold.cuh"

/// A warp sorts up to 1,024 entries that lie in its shared memory. What goes through the network are 32 bits of each:
/// as much of its key as its place in the list leaves, measured from the list's least key and scaled to the list's
/// range, which for a cut row is less than the row's. Registers hold nothing but these, so that twice as many warps fit
/// a multiprocessor as with keys and columns beside them. Only neighbours of which these bits are the same are looked
/// up and, if they stand wrong, exchanged; a list in which many are alike but not equal is sorted in 64 bits, in shared
/// memory.
namespace espalier::smallest_k {
namespace {

template <class T>
__device__ void put_in_order(T& first, T& second) {
    const T smaller = std::min(first, second);
    second = std::max(first, second), first = smaller;
}

/// Compares every element with the one whose place differs in the bits of `flip`; the one of the lower place, whose bit
/// `decides` is 0, becomes the smaller one. Place p is register p % registers of lane p / registers.
template <int flip, int decides, int registers>
__device__ void compare_places(std::uint32_t (&packed)[registers], unsigned lane) {
    constexpr int kInLane = flip % registers, kAcross = flip / registers;
    if constexpr (kAcross == 0) {
#pragma unroll
        for (int r = 0; r < registers; ++r)
            if ((r & decides) == 0) put_in_order(packed[r], packed[r ^ kInLane]);
    } else {
        const bool lower = (lane & (decides / registers)) == 0;
        // Both of a pair of registers are sent before either is replaced.
#pragma unroll
        for (int r = 0; r < registers; ++r) {
            const int mirror = r ^ kInLane;
            if (mirror < r) continue;
            const std::uint32_t other = __shfl_xor_sync(kAll, packed[mirror], kAcross);
            if (mirror != r) {
                const std::uint32_t mirrored = __shfl_xor_sync(kAll, packed[r], kAcross);
                packed[mirror] = lower ? std::min(packed[mirror], mirrored) : std::max(packed[mirror], mirrored);
            }
            packed[r] = lower ? std::min(packed[r], other) : std::max(packed[r], other);
        }
    }
}

template <int stride, int registers>
__device__ void merge_strides(std::uint32_t (&packed)[registers], unsigned lane) {
    if constexpr (stride > 0) {
        compare_places<stride, stride>(packed, lane);
        merge_strides<stride / 2>(packed, lane);
    }
}

/// Bitonic, runs merged from both ends, so that all ascend. Every `places` / registers neighbouring lanes sort a list
/// of their own.
template <int places, int size = 2, int registers>
__device__ void sort_packed(std::uint32_t (&packed)[registers], unsigned lane) {
    compare_places<size - 1, size / 2>(packed, lane);
    merge_strides<size / 4>(packed, lane);
    if constexpr (size < places) sort_packed<places, size * 2>(packed, lane);
}

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
        sort_bits();
        constexpr int kPasses = 4;
        int passes = 0;
        bool whole = false;
        while (!whole && exchange_alike()) whole = ++passes == kPasses;
        if (whole) sort_whole();
        for (int j = static_cast<int>(lane_); j < k; j += kLanes) {
            const int place = whole ? j : place_of(space_.sorted[Space::padded(std::min(j, kPlaces - 1))]);
            const std::uint64_t entry = j < count_ ? whole ? raw_[place] : sortable<Value>(raw_[place]) : kEmptyEntry;
            values[j] = to_store<T>(value_as<Value>(key_of_entry(entry)));
            indices[j] = index_of_entry(entry);
        }
    }

private:
    static constexpr int kPlaceBits = std::bit_width(static_cast<unsigned>(kPlaces - 1));

    __device__ static int place_of(std::uint32_t packed) { return static_cast<int>(packed & (kPlaces - 1)); }

    __device__ std::uint32_t key_at(int place) const {
        return place < count_ ? key_of(value_of_raw<Value>(raw_[place])) : kEmptyKey;
    }

    /// Leaves the places in the order of their packed keys in `sorted`. A place without an entry is all ones, after
    /// every other one.
    __device__ void sort_bits() {
        std::uint32_t packed[registers], least = kEmptyKey, most = 0;
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
        sort_packed<kPlaces>(packed, lane_);
#pragma unroll
        for (int r = 0; r < registers; ++r) space_.sorted[Space::padded(first * registers + r)] = packed[r];
        __syncwarp();
    }

    /// Puts neighbours right whose packed keys do not tell them apart. Returns whether any stood wrong.
    __device__ bool exchange_alike() {
        bool wrong = false;
        for (int odd = 0; odd < 2; ++odd) {
            for (int i = 2 * static_cast<int>(lane_) + odd; i + 1 < count_; i += 2 * kLanes) {
                std::uint32_t &first = space_.sorted[Space::padded(i)], &second = space_.sorted[Space::padded(i + 1)];
                const std::uint32_t a = first, b = second;
                if ((a ^ b) >> kPlaceBits != 0) continue;
                if (sortable<Value>(raw_[place_of(a)]) < sortable<Value>(raw_[place_of(b)])) continue;
                first = b, second = a, wrong = true;
            }
            __syncwarp();
        }
        return __any_sync(kAll, wrong) != 0;
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
