#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/kernel.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/order.hpp"

/// Selection from a row that lies in the registers of a group of threads: where to cut it, so that little more than the
/// k smallest is left to sort, and taking what lies below the cut. The work does not depend on the order of the data.
///
/// The row is parted into more parts than k, each in one thread's registers. The k-th smallest of the parts' minima is
/// not below the k-th smallest of the row, and with four parts to each of the k few elements lie between the two. It
/// is found by bisection over the keys of `order.hpp`; counting is what a group does best. Where equal elements leave
/// more than fits, the bisection goes on over the elements themselves, down to a single key whose elements are then
/// taken in the order of their columns.
///
/// Neighbouring elements are of different parts, so that sorted rows do not have their best elements in few of them.
///
/// `Group` has `kSize` threads, of which each has a `rank()`, and answers all of them: the `sum` and the `least` of a
/// number of each, the `extremes` of two, the sum `before` its own rank, and whether `any` of those that run together
/// goes on.
namespace espalier::smallest_k {
namespace {

inline constexpr std::uint32_t kInfinityKey = 0xFF800000;
inline constexpr int kVector = 4;  ///< neighbouring elements in the registers of one thread

/// What comes up to a key is not above this. No element has -0's own key, and as a float it would let +0 in.
__device__ inline float bound_of(std::uint32_t key) {
    constexpr std::uint32_t kNegativeZero = 0x7FFFFFFF;
    return value_of(key == kNegativeZero ? kNegativeZero - 1 : key);
}

/// Registers beyond the end of the row hold NaN, which lies below no cut.
template <class Group, int count>
__device__ void load_stripe(const Group& group, float (&values)[count], const float* row, std::int64_t columns,
                            bool aligned) {
#pragma unroll
    for (int i = 0; i < count; i += kVector) {
        const std::int64_t at = static_cast<std::int64_t>(i) * Group::kSize + group.rank() * kVector;
        if (aligned && at + kVector <= columns) {
            const float4 four = *reinterpret_cast<const float4*>(row + at);
            values[i] = four.x, values[i + 1] = four.y, values[i + 2] = four.z, values[i + 3] = four.w;
        } else {
#pragma unroll
            for (int e = 0; e < kVector; ++e)
                values[i + e] = at + e < columns ? row[at + e] : std::numeric_limits<float>::quiet_NaN();
        }
    }
}

/// The column of register i.
template <class Group>
__device__ int column_of(const Group& group, int i) {
    return i / kVector * kVector * Group::kSize + group.rank() * kVector + i % kVector;
}

template <int count>
__device__ int count_within(const float (&values)[count], float bound) {
    int within = 0;
#pragma unroll
    for (int i = 0; i < count; ++i) within += values[i] <= bound ? 1 : 0;
    return within;
}

/// Keys between which the wanted one lies, with the number of values up to each.
struct Bracket {
    std::uint32_t low, high;
    int below, within;
};

/// The least key of a value above a bound, which is NaN where all values are; kInfinityKey if there is none below
/// infinity.
template <int count>
__device__ std::uint32_t least_key_above(const float (&values)[count], float bound) {
    float least = std::numeric_limits<float>::infinity();
#pragma unroll
    for (int i = 0; i < count; ++i)
        if (!(values[i] <= bound)) least = fminf(least, values[i]);
    return key_of(least);
}

/// Narrows the bracket until at most `most` values lie within, of which `least` stay, or it is a single key. Bisection
/// comes to an end soon unless many values are equal. Then the keys between them are what takes long: after a while
/// every other probe is at the next key that a value has.
template <class Group, int count>
__device__ void narrow(Group& group, const float (&values)[count], Bracket& bracket, int least, int most) {
    constexpr int kPatience = 9;
    for (int probe = 0;; ++probe) {
        const bool open = bracket.within > most && bracket.high - bracket.low > 1;
        if (!group.any(open)) return;
        const bool next = probe >= kPatience && probe % 2 != 0;
        std::uint32_t middle = bracket.low + (bracket.high - bracket.low) / 2;
        if (next) middle = group.least(least_key_above(values, bound_of(bracket.low)));
        const int within = group.sum(count_within(values, bound_of(middle)));
        if (!open) continue;
        if (within < least) {
            bracket.low = middle, bracket.below = within;
        } else {
            bracket.high = middle, bracket.within = within;
            if (next) bracket.low = middle - 1;  // nothing lies between
        }
    }
}

/// What to take of a stripe: every element up to `bound`, `count` of them, and of those behind it `ties` more, the
/// first ones of key `tie_key` (kNanKey: NaN). Nothing of a key beyond `last` is taken, NaN aside.
struct Cut {
    float bound;
    int count, ties;
    std::uint32_t tie_key, last;
};

/// `limit`: no element of a larger key is wanted; kInfinityKey if the list has room. `room`: entries that it lacks,
/// which any NaN may fill. `capacity` >= k.
template <int parts, class Group, int count>
__device__ Cut find_cut(Group& group, const float (&values)[count], std::uint32_t limit, int k, int room, int slack,
                        int capacity) {
    static_assert(count % parts == 0);
    float minima[parts];
    std::uint32_t least = kInfinityKey, most = 0;
#pragma unroll
    for (int p = 0; p < parts; ++p) {
        minima[p] = std::numeric_limits<float>::infinity();
#pragma unroll
        for (int i = p; i < count; i += parts) minima[p] = fminf(minima[p], values[i]);
        const std::uint32_t key = key_of(minima[p]);
        least = std::min(least, key), most = std::max(most, key);
    }
    group.extremes(least, most);
    Bracket bracket{least - 1, std::min(limit, most), 0, 0};
    // Both ends in one sum. Where minima are equal the lower one is often the end of the search.
    constexpr int kHalf = 16;
    const auto ends = static_cast<unsigned>(
        group.sum(count_within(minima, bound_of(least)) | count_within(minima, bound_of(bracket.high)) << kHalf));
    const int equal = static_cast<int>(ends & ((1U << kHalf) - 1));
    bracket.within = static_cast<int>(ends >> kHalf);
    if (bracket.within < k)
        bracket.high = limit;
    else if (equal >= k)
        bracket.high = least, bracket.within = equal;
    narrow(group, minima, bracket, k, k + slack);

    Bracket elements{least - 1, bracket.high, 0, group.sum(count_within(values, bound_of(bracket.high)))};
    narrow(group, values, elements, k, capacity);
    if (elements.within > capacity)
        return {bound_of(elements.low), elements.below, k - elements.below, elements.high, elements.high};
    const int missing = limit == kInfinityKey ? std::max(room - elements.within, 0) : 0;
    return {bound_of(elements.high), elements.within, missing, kNanKey, elements.high};
}

/// Value and column as they are; `order.hpp` has the entry that sorts like them.
__device__ inline std::uint64_t raw_entry(float value, int column) {
    return static_cast<std::uint64_t>(__float_as_uint(value)) << 32 | static_cast<std::uint32_t>(column);
}
__device__ inline std::uint64_t sortable(std::uint64_t raw) {
    return entry_of(key_of(__uint_as_float(static_cast<std::uint32_t>(raw >> 32))), static_cast<std::uint32_t>(raw));
}

/// Appends the first `ties` elements of the cut's key, four neighbours of every thread at a time. Returns how many
/// there were.
template <class Group, int count>
__device__ int take_ties(Group& group, const float (&values)[count], const Cut& cut, int columns, std::uint64_t* to) {
    int taken = 0;
#pragma unroll
    for (int i = 0; i < count; i += kVector) {
        if (!group.any(taken < cut.ties)) break;
        unsigned equal = 0;
#pragma unroll
        for (int e = 0; e < kVector; ++e)
            if (column_of(group, i + e) < columns && key_of(values[i + e]) == cut.tie_key) equal |= 1U << e;
        int total = 0;
        int place = taken + group.before(__popc(equal), total);
#pragma unroll
        for (int e = 0; e < kVector; ++e)
            if (equal >> e & 1) {
                if (place < cut.ties) to[place] = raw_entry(values[i + e], column_of(group, i + e));
                ++place;
            }
        taken += total;
    }
    return std::min(taken, cut.ties);
}

/// Writes what the cut takes to `to`, raw, in no order. Returns how many there are.
template <class Group, int count>
__device__ int take(Group& group, const float (&values)[count], const Cut& cut, int columns, std::uint64_t* to) {
    int total = 0;
    std::uint64_t* place = to + group.before(count_within(values, cut.bound), total);
#pragma unroll
    for (int i = 0; i < count; ++i)
        if (values[i] <= cut.bound) *place++ = raw_entry(values[i], column_of(group, i));
    if (group.any(cut.ties > 0)) total += take_ties(group, values, cut, columns, to + cut.count);
    return total;
}

}  // namespace
}  // namespace espalier::smallest_k
