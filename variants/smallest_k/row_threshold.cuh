#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/kernel.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/row_cut.cuh"

/// Selection of many elements from a row that lies in the registers of a group of threads (`Group` as in row_cut.cuh).
/// Where k is a good part of the row, minima of parts bound nothing, and a cut that must not let through more than k
/// wants many bisections: 11 of 1,024 uniform columns. The search interpolates instead, as Floyd and Rivest select: it
/// aims beyond the k-th by as much as the count is likely to be off, so that the next probe closes the bracket from the
/// other side. Four or five counts are enough where the data lie evenly; where they do not, every other one bisects the
/// keys, and where a probe found nothing to tell apart the next one is at a key that an element has.
namespace espalier::smallest_k {
namespace {

/// A whole warp.
struct WarpGroup {
    static constexpr int kSize = kLanes;

    __device__ int rank() const { return static_cast<int>(threadIdx.x) % kLanes; }
    __device__ int sum(int value) const { return __reduce_add_sync(kAll, value); }
    __device__ std::uint32_t least(std::uint32_t value) const { return __reduce_min_sync(kAll, value); }
    __device__ void extremes(std::uint32_t& least_of, std::uint32_t& most_of) const {
        least_of = __reduce_min_sync(kAll, least_of), most_of = __reduce_max_sync(kAll, most_of);
    }
    __device__ int before(int value, int& total) const {
        int up_to = value;
#pragma unroll
        for (int stride = 1; stride < kLanes; stride *= 2) {
            const int other = __shfl_up_sync(kAll, up_to, stride);
            if (rank() >= stride) up_to += other;
        }
        total = __shfl_sync(kAll, up_to, kLanes - 1);
        return up_to - value;
    }
};

/// A key inside the bracket up to which about `wanted` values lie, beyond it by the count's likely error less `slack`.
/// Any key inside is right; of ends that are no numbers it is the uppermost.
template <class Value>
__device__ std::uint32_t interpolated(const Bracket& bracket, int wanted, float slack) {
    const auto below = static_cast<float>(wanted - bracket.below), above = static_cast<float>(bracket.within - wanted);
    const float beyond = fmaxf(sqrtf(fminf(below, above)) - slack, 0.0F);
    const float share = (below < above ? below + beyond : below - beyond) / (below + above);
    if constexpr (std::is_same_v<Value, std::int32_t>) {
        // Keys lie as the numbers do. The difference of the ends is right where the lower one is -1.
        constexpr float kMost = 0x1.FFFFFEp31F;
        const std::uint32_t range = bracket.high - bracket.low;
        const float offset = fminf(fmaxf(static_cast<float>(range) * share, 0.0F), kMost);
        return bracket.low + std::clamp(static_cast<std::uint32_t>(offset), 1U, range - 1);
    } else {
        const float low = value_of(bracket.low), high = value_of(bracket.high);
        return std::clamp(key_of(low + (high - low) * share), bracket.low + 1, bracket.high - 1);
    }
}

/// Whether the lower end of a bracket is a key before the least one, which of int32 may be -1.
template <class Value>
__device__ bool lies_before(std::uint32_t low, std::uint32_t least) {
    if constexpr (std::is_same_v<Value, std::int32_t>)
        return low == least - 1;
    else
        return low < least;
}

/// The least and the largest key of the thread's numbers.
template <class Value, int count>
__device__ void own_extremes(const Value (&values)[count], std::uint32_t& least, std::uint32_t& most) {
    if constexpr (std::is_same_v<Value, std::int32_t>) {
        least = Numbers<Value>::kLastKey, most = 0;
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const std::uint32_t key = key_of(values[i]);
            least = std::min(least, key);
            if (key != Numbers<Value>::kNoneKey) most = std::max(most, key);
        }
    } else {
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        float smallest = kInfinity, largest = -kInfinity;
#pragma unroll
        for (int i = 0; i < count; ++i) smallest = fminf(smallest, values[i]), largest = fmaxf(largest, values[i]);
        least = key_of(smallest), most = key_of(largest);
    }
}

/// Narrows the bracket until k to `capacity` values lie within, or it is a single key. `least`: the least value's.
template <class Group, class Value, int count>
__device__ void close_in(Group& group, const Value (&values)[count], Bracket& bracket, std::uint32_t least, int k,
                         int capacity) {
    using Of = Numbers<Value>;
    const int wanted = k + (capacity - k) / 2;
    const float slack = static_cast<float>(capacity - k) / 2;
    bool interpolate = true, alike = false;
#pragma unroll 1
    while (bracket.within > capacity && bracket.high - bracket.low > 1) {
        const int between = bracket.within - bracket.below;
        std::uint32_t middle = bracket.low + (bracket.high - bracket.low) / 2;
        if (alike)
            middle = lies_before<Value>(bracket.low, least)
                         ? least
                         : group.least(least_key_above(values, Of::bound_of(bracket.low)));
        else if (interpolate)
            middle = interpolated<Value>(bracket, wanted, slack);
        const int within = group.sum(count_within(values, Of::bound_of(middle)));
        if (within < k) {
            bracket.low = middle, bracket.below = within;
        } else {
            bracket.high = middle, bracket.within = within;
            if (alike) bracket.low = middle - 1;  // nothing lies between
        }
        const int left = bracket.within - bracket.below;
        alike = left == between && !alike;
        interpolate = !interpolate || 2 * left <= between;
    }
}

/// Where to cut a row so that k to `capacity` elements are taken; fewer only of a row that has fewer.
template <class Group, class Value, int count>
__device__ Cut<Value> find_threshold(Group& group, const Value (&values)[count], int k, int capacity) {
    using Of = Numbers<Value>;
    const int numbers = group.sum(count_within(values, Of::kLast));
    if (numbers <= capacity) return {Of::kLast, numbers, std::max(k - numbers, 0), Of::kNoneKey, Of::kLastKey};
    std::uint32_t least, most;
    own_extremes(values, least, most);
    group.extremes(least, most);
    Bracket bracket{least - 1, most, 0, numbers};
    close_in(group, values, bracket, least, k, capacity);
    if (bracket.within > capacity)
        return {Of::bound_of(bracket.low), bracket.below, k - bracket.below, bracket.high, bracket.high};
    return {Of::bound_of(bracket.high), bracket.within, 0, Of::kNoneKey, bracket.high};
}

/// Raw entries in shared memory with a gap after every 16: threads that take equally many elements, as of sorted rows,
/// would else store to one bank.
struct RawList {
    std::uint64_t* entries;

    static constexpr int place(int i) { return i + i / 16; }
    static constexpr int room_for(int count) { return place(count); }

    __device__ std::uint64_t& operator[](int i) const { return entries[place(i)]; }
};

/// Appends the first `ties` elements of the cut's key in the order of their columns, behind `taken` others.
template <int together, class Group, class Value, int count>
__device__ int gather_ties(Group& group, const Value (&values)[count], const Cut<Value>& cut, int columns, int taken,
                           RawList to) {
    const int end = taken + cut.ties;
#pragma unroll
    for (int i = 0; i < count; i += together) {
        if (taken >= end) break;
        unsigned equal = 0;
#pragma unroll
        for (int e = 0; e < together; ++e)
            if (column_of<together>(group, i + e) < columns && key_of(values[i + e]) == cut.tie_key) equal |= 1U << e;
        int total = 0;
        int place = taken + group.before(__popc(equal), total);
#pragma unroll
        for (int e = 0; e < together; ++e)
            if (equal >> e & 1) {
                if (place < end) to[place] = raw_entry(values[i + e], column_of<together>(group, i + e));
                ++place;
            }
        taken += total;
    }
    return std::min(taken, end);
}

/// Writes what the cut takes to `to`, in no order but the same in every run. Returns how many there are.
template <int together, class Group, class Value, int count>
__device__ int gather(Group& group, const Value (&values)[count], const Cut<Value>& cut, int columns, RawList to) {
    int total = 0;
    int place = group.before(count_within(values, cut.bound), total);
#pragma unroll
    for (int i = 0; i < count; ++i)
        if (Numbers<Value>::within(values[i], cut.bound))
            to[place++] = raw_entry(values[i], column_of<together>(group, i));
    return cut.ties > 0 ? gather_ties<together>(group, values, cut, columns, total, to) : total;
}

/// Writes a list of k as it is, `threads` threads at a time.
template <class T>
__device__ void write_list(RawList list, int count, int k, T* values, std::int32_t* indices, int thread, int threads) {
    using Value = Compared<T>;
    for (int j = thread; j < k; j += threads) {
        const bool filled = j < count;
        const std::uint64_t raw = filled ? list[j] : 0;
        values[j] = to_store<T>(filled ? value_of_raw<Value>(raw) : Numbers<Value>::kNone);
        indices[j] = filled ? static_cast<std::int32_t>(raw) : kNoIndex;
    }
}

}  // namespace
}  // namespace espalier::smallest_k
