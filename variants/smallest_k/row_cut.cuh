#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/kernel.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/typed_keys.cuh"

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

/// What `Value` a search compares means to it: a float, or an int32, of which INT32_MAX is in the part of NaN. It comes
/// last, it lies below no cut, and only as a tie it is taken.
template <class Value>
struct Numbers;

template <>
struct Numbers<float> {
    static constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
    static constexpr float kLast = std::numeric_limits<float>::infinity();  ///< of the numbers
    static constexpr std::uint32_t kLastKey = kInfinityKey, kNoneKey = kNanKey;

    /// What comes up to a key is not above this. No element has -0's own key, and as a float it would let +0 in.
    __device__ static float bound_of(std::uint32_t key) {
        constexpr std::uint32_t kNegativeZero = 0x7FFFFFFF;
        return value_of(key == kNegativeZero ? kNegativeZero - 1 : key);
    }
    __device__ static bool within(float value, float bound) { return value <= bound; }
    __device__ static float lesser(float a, float b) { return fminf(a, b); }
    __device__ static float of_bits(std::uint32_t bits) { return __uint_as_float(bits); }
    __device__ static std::uint32_t bits_of(float value) { return __float_as_uint(value); }
};

/// A bound is the number after those that it lets in: nothing lies before INT32_MIN, and all but INT32_MAX before that
/// one. The key before INT32_MIN's 0 is -1; differences of keys are right all the same.
template <>
struct Numbers<std::int32_t> {
    static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max(), kLast = kNone;
    static constexpr std::uint32_t kLastKey = 0xFFFFFFFE, kNoneKey = 0xFFFFFFFF;

    __device__ static std::int32_t bound_of(std::uint32_t key) { return value_as<std::int32_t>(key + 1); }
    __device__ static bool within(std::int32_t value, std::int32_t bound) { return value < bound; }
    __device__ static std::int32_t lesser(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
    __device__ static std::int32_t of_bits(std::uint32_t bits) { return static_cast<std::int32_t>(bits); }
    __device__ static std::uint32_t bits_of(std::int32_t value) { return static_cast<std::uint32_t>(value); }
};

/// Neighbouring elements in the registers of one thread: 16 bytes.
template <class T>
inline constexpr int kVectorOf = 16 / static_cast<int>(sizeof(T));

/// 16 bytes of 4-byte numbers, or of 2-byte ones.
template <class T>
__device__ void load_vector(const T* from, Compared<T>* to) {
    const uint4 four = *reinterpret_cast<const uint4*>(from);
    const std::uint32_t words[] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int w = 0; w < 4; ++w)
        if constexpr (sizeof(T) == 2) {
            to[2 * w] = loaded(T{static_cast<std::uint16_t>(words[w] & 0xFFFF)});
            to[2 * w + 1] = loaded(T{static_cast<std::uint16_t>(words[w] >> 16)});
        } else {
            to[w] = Numbers<Compared<T>>::of_bits(words[w]);
        }
}

/// Registers beyond the end of the row hold what lies below no cut.
template <class Group, class T, int count>
__device__ void load_stripe(const Group& group, Compared<T> (&values)[count], const T* row, std::int64_t columns,
                            bool aligned) {
    constexpr int kTogether = kVectorOf<T>;
#pragma unroll
    for (int i = 0; i < count; i += kTogether) {
        const std::int64_t at = static_cast<std::int64_t>(i) * Group::kSize + group.rank() * kTogether;
        if (aligned && at + kTogether <= columns) {
            if constexpr (std::is_same_v<T, float>) {
                const float4 four = *reinterpret_cast<const float4*>(row + at);
                values[i] = four.x, values[i + 1] = four.y, values[i + 2] = four.z, values[i + 3] = four.w;
            } else {
                load_vector(row + at, values + i);
            }
        } else {
#pragma unroll
            for (int e = 0; e < kTogether; ++e)
                values[i + e] = at + e < columns ? loaded(row[at + e]) : Numbers<Compared<T>>::kNone;
        }
    }
}

/// Whether a matrix's rows can be read 16 bytes at a time.
template <class T>
bool has_aligned_rows(const T* keys, std::int64_t columns) {
    return columns % kVectorOf<T> == 0 && reinterpret_cast<std::uintptr_t>(keys) % 16 == 0;
}

/// The column of register i, of which `together` neighbours are a vector.
template <int together = kVector, class Group>
__device__ int column_of(const Group& group, int i) {
    return i / together * together * Group::kSize + group.rank() * together + i % together;
}

template <class Value, int count>
__device__ int count_within(const Value (&values)[count], Value bound) {
    int within = 0;
#pragma unroll
    for (int i = 0; i < count; ++i) within += Numbers<Value>::within(values[i], bound) ? 1 : 0;
    return within;
}

/// Keys between which the wanted one lies, with the number of values up to each.
struct Bracket {
    std::uint32_t low, high;
    int below, within;
};

/// The least key of a value above a bound, which is NaN where all values are; that of `kLast` if there is none below
/// it.
template <class Value, int count>
__device__ std::uint32_t least_key_above(const Value (&values)[count], Value bound) {
    Value least = Numbers<Value>::kLast;
#pragma unroll
    for (int i = 0; i < count; ++i)
        if (!Numbers<Value>::within(values[i], bound)) least = Numbers<Value>::lesser(least, values[i]);
    return key_of(least);
}

/// Narrows the bracket until at most `most` values lie within, of which `least` stay, or it is a single key. Bisection
/// comes to an end soon unless many values are equal. Then the keys between them are what takes long: after a while
/// every other probe is at the next key that a value has.
template <class Group, class Value, int count>
__device__ void narrow(Group& group, const Value (&values)[count], Bracket& bracket, int least, int most) {
    constexpr int kPatience = 9;
    for (int probe = 0;; ++probe) {
        const bool open = bracket.within > most && bracket.high - bracket.low > 1;
        if (!group.any(open)) return;
        const bool next = probe >= kPatience && probe % 2 != 0;
        std::uint32_t middle = bracket.low + (bracket.high - bracket.low) / 2;
        if (next) middle = group.least(least_key_above(values, Numbers<Value>::bound_of(bracket.low)));
        const int within = group.sum(count_within(values, Numbers<Value>::bound_of(middle)));
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
/// first ones of key `tie_key` (kNoneKey: NaN). Nothing of a key beyond `last` is taken, NaN aside.
template <class Value>
struct Cut {
    Value bound;
    int count, ties;
    std::uint32_t tie_key, last;
};

/// `limit`: no element of a larger key is wanted; kLastKey if the list has room. `room`: entries that it lacks,
/// which any NaN may fill. `capacity` >= k.
template <int parts, class Group, class Value, int count>
__device__ Cut<Value> find_cut(Group& group, const Value (&values)[count], std::uint32_t limit, int k, int room,
                               int slack, int capacity) {
    using Of = Numbers<Value>;
    static_assert(count % parts == 0);
    Value minima[parts];
    std::uint32_t least = Of::kLastKey, most = 0;
#pragma unroll
    for (int p = 0; p < parts; ++p) {
        minima[p] = Of::kLast;
#pragma unroll
        for (int i = p; i < count; i += parts) minima[p] = Of::lesser(minima[p], values[i]);
        const std::uint32_t key = key_of(minima[p]);
        least = std::min(least, key), most = std::max(most, key);
    }
    group.extremes(least, most);
    Bracket bracket{least - 1, std::min(limit, most), 0, 0};
    // Both ends in one sum. Where minima are equal the lower one is often the end of the search.
    constexpr int kHalf = 16;
    const auto ends = static_cast<unsigned>(group.sum(count_within(minima, Of::bound_of(least)) |
                                                      count_within(minima, Of::bound_of(bracket.high)) << kHalf));
    const int equal = static_cast<int>(ends & ((1U << kHalf) - 1));
    bracket.within = static_cast<int>(ends >> kHalf);
    if (bracket.within < k)
        bracket.high = limit;
    else if (equal >= k)
        bracket.high = least, bracket.within = equal;
    narrow(group, minima, bracket, k, k + slack);

    Bracket elements{least - 1, bracket.high, 0, group.sum(count_within(values, Of::bound_of(bracket.high)))};
    narrow(group, values, elements, k, capacity);
    if (elements.within > capacity)
        return {Of::bound_of(elements.low), elements.below, k - elements.below, elements.high, elements.high};
    const int missing = limit == Of::kLastKey ? std::max(room - elements.within, 0) : 0;
    return {Of::bound_of(elements.high), elements.within, missing, Of::kNoneKey, elements.high};
}

/// Value and column as they are; `order.hpp` has the entry that sorts like them.
template <class Value>
__device__ std::uint64_t raw_entry(Value value, int column) {
    return static_cast<std::uint64_t>(Numbers<Value>::bits_of(value)) << 32 | static_cast<std::uint32_t>(column);
}
template <class Value>
__device__ Value value_of_raw(std::uint64_t raw) {
    return Numbers<Value>::of_bits(static_cast<std::uint32_t>(raw >> 32));
}
template <class Value = float>
__device__ std::uint64_t sortable(std::uint64_t raw) {
    return entry_of(key_of(value_of_raw<Value>(raw)), static_cast<std::uint32_t>(raw));
}

/// Appends the first `ties` elements of the cut's key, a vector of every thread at a time. Returns how many
/// there were.
template <int together = kVector, class Group, class Value, int count>
__device__ int take_ties(Group& group, const Value (&values)[count], const Cut<Value>& cut, int columns,
                         std::uint64_t* to) {
    int taken = 0;
#pragma unroll
    for (int i = 0; i < count; i += together) {
        if (!group.any(taken < cut.ties)) break;
        unsigned equal = 0;
#pragma unroll
        for (int e = 0; e < together; ++e)
            if (column_of<together>(group, i + e) < columns && key_of(values[i + e]) == cut.tie_key) equal |= 1U << e;
        int total = 0;
        int place = taken + group.before(__popc(equal), total);
#pragma unroll
        for (int e = 0; e < together; ++e)
            if (equal >> e & 1) {
                if (place < cut.ties) to[place] = raw_entry(values[i + e], column_of<together>(group, i + e));
                ++place;
            }
        taken += total;
    }
    return std::min(taken, cut.ties);
}

/// Writes what the cut takes to `to`, raw, in no order. Returns how many there are.
template <int together = kVector, class Group, class Value, int count>
__device__ int take(Group& group, const Value (&values)[count], const Cut<Value>& cut, int columns, std::uint64_t* to) {
    int total = 0;
    std::uint64_t* place = to + group.before(count_within(values, cut.bound), total);
#pragma unroll
    for (int i = 0; i < count; ++i)
        if (Numbers<Value>::within(values[i], cut.bound))
            *place++ = raw_entry(values[i], column_of<together>(group, i));
    if (group.any(cut.ties > 0)) total += take_ties<together>(group, values, cut, columns, to + cut.count);
    return total;
}

}  // namespace
}  // namespace espalier::smallest_k
