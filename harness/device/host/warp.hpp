#pragma once

// Barriers and warp-wide operations with CUDA's names.

#include <bit>
#include <cstring>
#include <type_traits>

#include "harness/device/host/kernel_side.hpp"

namespace espalier::device::host {

template <class T>
concept WarpValue = std::is_arithmetic_v<T> && sizeof(T) <= sizeof(std::uint64_t);

template <WarpValue T>
std::uint64_t to_bits(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}
template <WarpValue T>
T from_bits(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <class Visit>
void for_each_lane(unsigned mask, Visit visit) {
    for (; mask != 0; mask &= mask - 1) visit(static_cast<unsigned>(std::countr_zero(mask)));
}

/// Every lane takes the value of lane `argument`. The value of a lane that takes no part is undefined
/// on a GPU: here it is the poison.
inline void resolve_shuffle(Lanes& lanes, unsigned mask) {
    for_each_lane(mask, [&](unsigned l) {
        const unsigned source = lanes[l].argument;
        lanes[l].result = (mask >> source & 1U) != 0 ? lanes[source].value : poison_value();
    });
}

/// Every lane learns for which lanes `value` is not 0.
inline void resolve_vote(Lanes& lanes, unsigned mask) {
    unsigned votes = 0;
    for_each_lane(mask, [&](unsigned l) { votes |= (lanes[l].value != 0 ? 1U : 0U) << l; });
    for_each_lane(mask, [&](unsigned l) { lanes[l].result = votes; });
}

/// Every lane learns which lanes have its value.
inline void resolve_match(Lanes& lanes, unsigned mask) {
    for_each_lane(mask, [&](unsigned l) {
        unsigned same = 0;
        for_each_lane(mask, [&](unsigned other) { same |= (lanes[other].value == lanes[l].value ? 1U : 0U) << other; });
        lanes[l].result = same;
    });
}

inline void resolve_nothing(Lanes&, unsigned) {}

template <class T, class Combine>
void resolve_reduction(Lanes& lanes, unsigned mask) {
    T total = from_bits<T>(lanes[static_cast<unsigned>(std::countr_zero(mask))].value);
    for_each_lane(mask & (mask - 1), [&](unsigned l) { total = Combine{}(total, from_bits<T>(lanes[l].value)); });
    for_each_lane(mask, [&](unsigned l) { lanes[l].result = to_bits(total); });
}

struct Add {
    // Wraps around like the hardware's, for signed numbers too.
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
    }
};
struct Min {
    template <class T>
    T operator()(T a, T b) const {
        return b < a ? b : a;
    }
};
struct Max {
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};
struct And {
    unsigned operator()(unsigned a, unsigned b) const { return a & b; }
};
struct Or {
    unsigned operator()(unsigned a, unsigned b) const { return a | b; }
};
struct Xor {
    unsigned operator()(unsigned a, unsigned b) const { return a ^ b; }
};

template <class T>
T reduce(const WarpOperation& operation, unsigned mask, T value, Site site) {
    return from_bits<T>(warp_collective(operation, mask, to_bits(value), 0, site));
}

template <class T>
concept Word = std::is_same_v<T, int> || std::is_same_v<T, unsigned>;

template <WarpValue T>
T shuffle(const WarpOperation& operation, unsigned mask, T value, unsigned source, Site site) {
    return from_bits<T>(warp_collective(operation, mask, to_bits(value), source, site));
}

inline constexpr WarpOperation kShuffle{"__shfl_sync", resolve_shuffle};
inline constexpr WarpOperation kShuffleUp{"__shfl_up_sync", resolve_shuffle};
inline constexpr WarpOperation kShuffleDown{"__shfl_down_sync", resolve_shuffle};
inline constexpr WarpOperation kShuffleXor{"__shfl_xor_sync", resolve_shuffle};
inline constexpr WarpOperation kBallot{"__ballot_sync", resolve_vote};
inline constexpr WarpOperation kAny{"__any_sync", resolve_vote};
inline constexpr WarpOperation kAll{"__all_sync", resolve_vote};
inline constexpr WarpOperation kMatchAny{"__match_any_sync", resolve_match};
inline constexpr WarpOperation kMatchAll{"__match_all_sync", resolve_match};
inline constexpr WarpOperation kSyncWarp{"__syncwarp", resolve_nothing};
template <class T>
inline constexpr WarpOperation kReduceAdd{"__reduce_add_sync", resolve_reduction<T, Add>};
template <class T>
inline constexpr WarpOperation kReduceMin{"__reduce_min_sync", resolve_reduction<T, Min>};
template <class T>
inline constexpr WarpOperation kReduceMax{"__reduce_max_sync", resolve_reduction<T, Max>};
inline constexpr WarpOperation kReduceAnd{"__reduce_and_sync", resolve_reduction<unsigned, And>};
inline constexpr WarpOperation kReduceOr{"__reduce_or_sync", resolve_reduction<unsigned, Or>};
inline constexpr WarpOperation kReduceXor{"__reduce_xor_sync", resolve_reduction<unsigned, Xor>};

}  // namespace espalier::device::host

// NOLINTBEGIN: CUDA's own names.

inline void __syncthreads(std::source_location site = std::source_location::current()) {
    espalier::device::host::block_barrier("__syncthreads", false, site);
}
inline int __syncthreads_count(int predicate, std::source_location site = std::source_location::current()) {
    return espalier::device::host::block_barrier("__syncthreads_count", predicate != 0, site);
}
inline int __syncthreads_or(int predicate, std::source_location site = std::source_location::current()) {
    return espalier::device::host::block_barrier("__syncthreads_or", predicate != 0, site) > 0 ? 1 : 0;
}
inline int __syncthreads_and(int predicate, std::source_location site = std::source_location::current()) {
    return espalier::device::host::block_barrier("__syncthreads_and", predicate == 0, site) == 0 ? 1 : 0;
}

inline void __syncwarp(unsigned mask = 0xffffffffU, std::source_location site = std::source_location::current()) {
    espalier::device::host::warp_collective(espalier::device::host::kSyncWarp, mask, 0, 0, site);
}

template <espalier::device::host::WarpValue T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize,
              std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    const unsigned segment = host::lane_index() & ~static_cast<unsigned>(width - 1);
    return host::shuffle(host::kShuffle, mask, value,
                         segment | (static_cast<unsigned>(source) & static_cast<unsigned>(width - 1)), site);
}

template <espalier::device::host::WarpValue T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    const unsigned lane = host::lane_index();
    const unsigned in_segment = lane & static_cast<unsigned>(width - 1);
    return host::shuffle(host::kShuffleUp, mask, value, delta <= in_segment ? lane - delta : lane, site);
}

template <espalier::device::host::WarpValue T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    const unsigned lane = host::lane_index();
    const unsigned to_the_end = static_cast<unsigned>(width - 1) - (lane & static_cast<unsigned>(width - 1));
    return host::shuffle(host::kShuffleDown, mask, value, delta <= to_the_end ? lane + delta : lane, site);
}

/// A partner beyond the caller's segment of `width` lanes is not read, one before it is: as documented.
template <espalier::device::host::WarpValue T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize,
                  std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    const unsigned lane = host::lane_index();
    const unsigned partner = (lane ^ static_cast<unsigned>(lanes)) & 31U;
    const unsigned last = lane | static_cast<unsigned>(width - 1);
    return host::shuffle(host::kShuffleXor, mask, value, partner <= last ? partner : lane, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    return static_cast<unsigned>(host::warp_collective(host::kBallot, mask, predicate != 0 ? 1 : 0, 0, site));
}
inline int __any_sync(unsigned mask, int predicate, std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    return host::warp_collective(host::kAny, mask, predicate != 0 ? 1 : 0, 0, site) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int predicate, std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    return host::warp_collective(host::kAll, mask, predicate != 0 ? 1 : 0, 0, site) == mask ? 1 : 0;
}

template <espalier::device::host::WarpValue T>
unsigned __match_any_sync(unsigned mask, T value, std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    return static_cast<unsigned>(host::warp_collective(host::kMatchAny, mask, host::to_bits(value), 0, site));
}
template <espalier::device::host::WarpValue T>
unsigned __match_all_sync(unsigned mask, T value, int* all,
                          std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    const auto same =
        static_cast<unsigned>(host::warp_collective(host::kMatchAll, mask, host::to_bits(value), 0, site));
    *all = same == mask ? 1 : 0;
    return same == mask ? mask : 0;
}

/// Only the caller: a GPU promises no more, and a kernel that needs more is wrong on some of them.
inline unsigned __activemask() { return 1U << espalier::device::host::lane_index(); }

template <espalier::device::host::Word T>
T __reduce_add_sync(unsigned mask, T value, std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    return host::reduce<T>(host::kReduceAdd<T>, mask, value, site);
}
template <espalier::device::host::Word T>
T __reduce_min_sync(unsigned mask, T value, std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    return host::reduce<T>(host::kReduceMin<T>, mask, value, site);
}
template <espalier::device::host::Word T>
T __reduce_max_sync(unsigned mask, T value, std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    return host::reduce<T>(host::kReduceMax<T>, mask, value, site);
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value,
                                  std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    return host::reduce<unsigned>(host::kReduceAnd, mask, value, site);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value,
                                 std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    return host::reduce<unsigned>(host::kReduceOr, mask, value, site);
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value,
                                  std::source_location site = std::source_location::current()) {
    namespace host = espalier::device::host;
    return host::reduce<unsigned>(host::kReduceXor, mask, value, site);
}

// NOLINTEND
