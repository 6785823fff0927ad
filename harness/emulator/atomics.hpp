#pragma once

// Atomics and fences with CUDA's names. Threads only switch where they wait, so plain operations are
// atomic; each counts as a poll, so that a thread that spins on one lets the others run.

#include <algorithm>
#include <type_traits>

#include "harness/emulator/kernel_side.hpp"

namespace espalier::device::host {

template <class T, class... Allowed>
concept OneOf = (std::is_same_v<T, Allowed> || ...);

/// Not itself watched: it reports its access as what it is.
template <class T, class Change>
__attribute__((no_sanitize_thread)) T exchange(T* address, Change change) {
    atomic_access(address, sizeof(T), reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1);
    const T old = *address;
    *address = static_cast<T>(change(old));
    return old;
}

/// Signed sums wrap around like the hardware's.
template <class T>
T wrapping_sum(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else
        return a + b;
}

}  // namespace espalier::device::host

// NOLINTBEGIN: CUDA's own names. The second operand converts to the type of the first.

template <espalier::device::host::OneOf<int, unsigned, unsigned long long, float, double> T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
    return espalier::device::host::exchange(
        address, [value](T old) { return espalier::device::host::wrapping_sum(old, value); });
}
template <espalier::device::host::OneOf<int, unsigned> T>
T atomicSub(T* address, std::type_identity_t<T> value) {
    return espalier::device::host::exchange(
        address, [value](T old) { return static_cast<T>(static_cast<unsigned>(old) - static_cast<unsigned>(value)); });
}
template <espalier::device::host::OneOf<int, unsigned, unsigned long long, float> T>
T atomicExch(T* address, std::type_identity_t<T> value) {
    return espalier::device::host::exchange(address, [value](T) { return value; });
}
template <espalier::device::host::OneOf<int, unsigned, long long, unsigned long long> T>
T atomicMin(T* address, std::type_identity_t<T> value) {
    return espalier::device::host::exchange(address, [value](T old) { return std::min(old, value); });
}
template <espalier::device::host::OneOf<int, unsigned, long long, unsigned long long> T>
T atomicMax(T* address, std::type_identity_t<T> value) {
    return espalier::device::host::exchange(address, [value](T old) { return std::max(old, value); });
}
template <espalier::device::host::OneOf<int, unsigned, unsigned long long> T>
T atomicAnd(T* address, std::type_identity_t<T> value) {
    return espalier::device::host::exchange(address, [value](T old) { return old & value; });
}
template <espalier::device::host::OneOf<int, unsigned, unsigned long long> T>
T atomicOr(T* address, std::type_identity_t<T> value) {
    return espalier::device::host::exchange(address, [value](T old) { return old | value; });
}
template <espalier::device::host::OneOf<int, unsigned, unsigned long long> T>
T atomicXor(T* address, std::type_identity_t<T> value) {
    return espalier::device::host::exchange(address, [value](T old) { return old ^ value; });
}
template <espalier::device::host::OneOf<int, unsigned, unsigned short, unsigned long long> T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    return espalier::device::host::exchange(address,
                                            [expected, value](T old) { return old == expected ? value : old; });
}
/// Counts up to `limit`, then starts again at 0.
inline unsigned atomicInc(unsigned* address, unsigned limit) {
    return espalier::device::host::exchange(address, [limit](unsigned old) { return old >= limit ? 0 : old + 1; });
}
inline unsigned atomicDec(unsigned* address, unsigned limit) {
    return espalier::device::host::exchange(
        address, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

inline void __threadfence() { espalier::device::host::fence(); }
inline void __threadfence_block() { espalier::device::host::fence(); }
inline void __threadfence_system() { espalier::device::host::fence(); }
inline void __nanosleep(unsigned) { espalier::device::host::yield(); }

// NOLINTEND
