#pragma once

// Barriers and warp-wide operations with CUDA's names.

#include <cstring>
#include <type_traits>

#include "harness/emulator/kernel_side.hpp"

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

template <WarpValue T>
T exchanged(const WarpOperation& operation, unsigned mask, T value, unsigned source, Site site) {
    return from_bits<T>(warp_collective(operation, mask, to_bits(value), source, site));
}
template <WarpValue T>
T reduced(const WarpOperation& operation, unsigned mask, T value, Site site) {
    return from_bits<T>(warp_collective(operation, mask, to_bits(value), 0, site));
}

extern const WarpOperation kShuffle, kShuffleUp, kShuffleDown, kShuffleXor;
extern const WarpOperation kBallot, kAny, kAll, kMatchAny, kMatchAll, kSyncWarp;
extern const WarpOperation kReduceAdd, kReduceMin, kReduceMax;
extern const WarpOperation kReduceAddUnsigned, kReduceMinUnsigned, kReduceMaxUnsigned;
extern const WarpOperation kReduceAnd, kReduceOr, kReduceXor;

}  // namespace espalier::device::host

// NOLINTBEGIN: CUDA's own names.

inline void __syncthreads(espalier::device::host::Site site = espalier::device::host::Site::current()) {
    espalier::device::host::block_barrier("__syncthreads", false, site);
}
inline int __syncthreads_count(int predicate,
                               espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::block_barrier("__syncthreads_count", predicate != 0, site);
}
inline int __syncthreads_or(int predicate,
                            espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::block_barrier("__syncthreads_or", predicate != 0, site) > 0 ? 1 : 0;
}
inline int __syncthreads_and(int predicate,
                             espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::block_barrier("__syncthreads_and", predicate == 0, site) == 0 ? 1 : 0;
}

inline void __syncwarp(unsigned mask = 0xffffffffU,
                       espalier::device::host::Site site = espalier::device::host::Site::current()) {
    espalier::device::host::warp_collective(espalier::device::host::kSyncWarp, mask, 0, 0, site);
}

template <espalier::device::host::WarpValue T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize,
              espalier::device::host::Site site = espalier::device::host::Site::current()) {
    namespace host = espalier::device::host;
    const unsigned segment = host::lane_index() & ~static_cast<unsigned>(width - 1);
    return host::exchanged(host::kShuffle, mask, value,
                           segment | (static_cast<unsigned>(source) & static_cast<unsigned>(width - 1)), site);
}

template <espalier::device::host::WarpValue T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 espalier::device::host::Site site = espalier::device::host::Site::current()) {
    namespace host = espalier::device::host;
    const unsigned lane = host::lane_index();
    const unsigned in_segment = lane & static_cast<unsigned>(width - 1);
    return host::exchanged(host::kShuffleUp, mask, value, delta <= in_segment ? lane - delta : lane, site);
}

template <espalier::device::host::WarpValue T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   espalier::device::host::Site site = espalier::device::host::Site::current()) {
    namespace host = espalier::device::host;
    const unsigned lane = host::lane_index();
    const unsigned to_the_end = static_cast<unsigned>(width - 1) - (lane & static_cast<unsigned>(width - 1));
    return host::exchanged(host::kShuffleDown, mask, value, delta <= to_the_end ? lane + delta : lane, site);
}

/// A partner beyond the caller's segment of `width` lanes is not read, one before it is: as documented.
template <espalier::device::host::WarpValue T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize,
                  espalier::device::host::Site site = espalier::device::host::Site::current()) {
    namespace host = espalier::device::host;
    const unsigned lane = host::lane_index();
    const unsigned partner = (lane ^ static_cast<unsigned>(lanes)) & 31U;
    const unsigned last = lane | static_cast<unsigned>(width - 1);
    return host::exchanged(host::kShuffleXor, mask, value, partner <= last ? partner : lane, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              espalier::device::host::Site site = espalier::device::host::Site::current()) {
    namespace host = espalier::device::host;
    return static_cast<unsigned>(host::warp_collective(host::kBallot, mask, predicate != 0 ? 1 : 0, 0, site));
}
inline int __any_sync(unsigned mask, int predicate,
                      espalier::device::host::Site site = espalier::device::host::Site::current()) {
    namespace host = espalier::device::host;
    return host::warp_collective(host::kAny, mask, predicate != 0 ? 1 : 0, 0, site) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int predicate,
                      espalier::device::host::Site site = espalier::device::host::Site::current()) {
    namespace host = espalier::device::host;
    return host::warp_collective(host::kAll, mask, predicate != 0 ? 1 : 0, 0, site) == mask ? 1 : 0;
}

template <espalier::device::host::WarpValue T>
unsigned __match_any_sync(unsigned mask, T value,
                          espalier::device::host::Site site = espalier::device::host::Site::current()) {
    namespace host = espalier::device::host;
    return static_cast<unsigned>(host::warp_collective(host::kMatchAny, mask, host::to_bits(value), 0, site));
}
template <espalier::device::host::WarpValue T>
unsigned __match_all_sync(unsigned mask, T value, int* all,
                          espalier::device::host::Site site = espalier::device::host::Site::current()) {
    namespace host = espalier::device::host;
    const auto same =
        static_cast<unsigned>(host::warp_collective(host::kMatchAll, mask, host::to_bits(value), 0, site));
    *all = same == mask ? 1 : 0;
    return same == mask ? mask : 0;
}

/// Only the caller: a GPU promises no more, and a kernel that needs more is wrong on some of them.
inline unsigned __activemask() { return 1U << espalier::device::host::lane_index(); }

inline int __reduce_add_sync(unsigned mask, int value,
                             espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::reduced(espalier::device::host::kReduceAdd, mask, value, site);
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value,
                                  espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::reduced(espalier::device::host::kReduceAddUnsigned, mask, value, site);
}
inline int __reduce_min_sync(unsigned mask, int value,
                             espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::reduced(espalier::device::host::kReduceMin, mask, value, site);
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value,
                                  espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::reduced(espalier::device::host::kReduceMinUnsigned, mask, value, site);
}
inline int __reduce_max_sync(unsigned mask, int value,
                             espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::reduced(espalier::device::host::kReduceMax, mask, value, site);
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value,
                                  espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::reduced(espalier::device::host::kReduceMaxUnsigned, mask, value, site);
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value,
                                  espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::reduced(espalier::device::host::kReduceAnd, mask, value, site);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value,
                                 espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::reduced(espalier::device::host::kReduceOr, mask, value, site);
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value,
                                  espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return espalier::device::host::reduced(espalier::device::host::kReduceXor, mask, value, site);
}

// NOLINTEND
