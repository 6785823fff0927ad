#pragma once

// CUDA's arithmetic intrinsics, bit for bit where CUDA documents the bits. The approximate ones
// (__expf, rsqrtf, ...) are computed accurately: closer to the true value than a GPU's.

#include <math.h>
#include <stdlib.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace espalier::device::host {

/// The common type of two arithmetic types as CUDA's overloads of min and max choose it.
template <class A, class B>
using Common = std::common_type_t<A, B>;

template <class A, class B>
concept Numbers = std::is_arithmetic_v<A> && std::is_arithmetic_v<B>;

/// A float as a whole number of type `Whole`: saturated, and 0 for NaN, as the hardware converts.
template <class Whole, class Real>
Whole to_whole(Real value) {
    constexpr Real kTooLarge =
        static_cast<Real>(std::uint64_t{1} << (8 * sizeof(Whole) - 1)) * (std::is_signed_v<Whole> ? Real{1} : Real{2});
    if (value != value) return 0;
    if (value >= kTooLarge)
        return static_cast<Whole>(~std::uint64_t{0} >> (64 - 8 * sizeof(Whole) + std::is_signed_v<Whole>));
    if constexpr (std::is_signed_v<Whole>) {
        if (value < -kTooLarge) return static_cast<Whole>(std::uint64_t{1} << (8 * sizeof(Whole) - 1));
    } else {
        if (value <= -1) return 0;
    }
    return static_cast<Whole>(value);
}

template <class Byte>
int byte_of(std::uint32_t word, int i) {
    return static_cast<Byte>(static_cast<std::uint8_t>(word >> (8 * i)));
}

/// sum + the products of the four bytes of two words, wrapping around.
template <class A, class B>
std::uint32_t dot_4_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
    for (int i = 0; i < 4; ++i) sum += static_cast<std::uint32_t>(byte_of<A>(a, i) * byte_of<B>(b, i));
    return sum;
}

}  // namespace espalier::device::host

// NOLINTBEGIN: CUDA's own names.

template <class A, class B>
requires espalier::device::host::Numbers<A, B>
constexpr auto min(A a, B b) {
    using T = espalier::device::host::Common<A, B>;
    if constexpr (std::is_floating_point_v<T>)
        return static_cast<T>(::fmin(static_cast<T>(a), static_cast<T>(b)));
    else
        return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B>
requires espalier::device::host::Numbers<A, B>
constexpr auto max(A a, B b) {
    using T = espalier::device::host::Common<A, B>;
    if constexpr (std::is_floating_point_v<T>)
        return static_cast<T>(::fmax(static_cast<T>(a), static_cast<T>(b)));
    else
        return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

inline int __popc(unsigned value) { return std::popcount(value); }
inline int __popcll(unsigned long long value) { return std::popcount(value); }
inline int __clz(int value) { return std::countl_zero(static_cast<unsigned>(value)); }
inline int __clzll(long long value) { return std::countl_zero(static_cast<unsigned long long>(value)); }
inline int __ffs(int value) { return value == 0 ? 0 : std::countr_zero(static_cast<unsigned>(value)) + 1; }
inline int __ffsll(long long value) {
    return value == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(value)) + 1;
}
inline unsigned __brev(unsigned value) {
    unsigned reversed = 0;
    for (int i = 0; i < 32; ++i) reversed |= (value >> i & 1U) << (31 - i);
    return reversed;
}
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned choice = selector >> (4 * i) & 7U;  // PTX's prmt has a use for the fourth bit, this has none
        result |= static_cast<unsigned>(bytes >> (8 * choice) & 0xffU) << (8 * i);
    }
    return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31U) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31U));
}
inline int __dp4a(int a, int b, int sum) {
    return static_cast<int>(espalier::device::host::dot_4_bytes<std::int8_t, std::int8_t>(
        static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(sum)));
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
    return espalier::device::host::dot_4_bytes<std::uint8_t, std::uint8_t>(a, b, sum);
}
inline int __mulhi(int a, int b) { return static_cast<int>(std::int64_t{a} * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<unsigned long long>(static_cast<Wide>(a) * b >> 64);
}
inline int __mul24(int a, int b) {
    const auto narrow = [](int v) { return static_cast<int>(static_cast<unsigned>(v) << 8) >> 8; };
    return static_cast<int>(static_cast<unsigned>(narrow(a)) * static_cast<unsigned>(narrow(b)));
}
inline unsigned __sad(int a, int b, unsigned sum) {
    return sum + (a > b ? static_cast<unsigned>(a) - static_cast<unsigned>(b)
                        : static_cast<unsigned>(b) - static_cast<unsigned>(a));
}
inline unsigned __usad(unsigned a, unsigned b, unsigned sum) { return sum + (a > b ? a - b : b - a); }

template <class T>
T __ldg(const T* address) {
    return *address;
}
template <class T>
T __ldcs(const T* address) {
    return *address;
}
template <class T>
T __ldcg(const T* address) {
    return *address;
}
template <class T>
void __stcs(T* address, std::type_identity_t<T> value) {
    *address = value;
}

inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }

inline int __float2int_rn(float value) { return espalier::device::host::to_whole<int>(rintf(value)); }
inline int __float2int_rz(float value) { return espalier::device::host::to_whole<int>(truncf(value)); }
inline int __float2int_rd(float value) { return espalier::device::host::to_whole<int>(floorf(value)); }
inline int __float2int_ru(float value) { return espalier::device::host::to_whole<int>(ceilf(value)); }
inline unsigned __float2uint_rn(float value) { return espalier::device::host::to_whole<unsigned>(rintf(value)); }
inline unsigned __float2uint_rz(float value) { return espalier::device::host::to_whole<unsigned>(truncf(value)); }
inline long long __float2ll_rn(float value) { return espalier::device::host::to_whole<long long>(rintf(value)); }
inline int __double2int_rn(double value) { return espalier::device::host::to_whole<int>(rint(value)); }
inline float __int2float_rn(int value) { return static_cast<float>(value); }
inline float __uint2float_rn(unsigned value) { return static_cast<float>(value); }
inline float __double2float_rn(double value) { return static_cast<float>(value); }

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fsqrt_rn(float value) { return sqrtf(value); }
inline float __frcp_rn(float value) { return 1.0F / value; }
inline float __frsqrt_rn(float value) { return static_cast<float>(1.0 / sqrt(static_cast<double>(value))); }
inline float rsqrtf(float value) { return __frsqrt_rn(value); }
inline double rsqrt(double value) { return 1.0 / sqrt(value); }
inline float __saturatef(float value) { return value > 0 ? (value < 1 ? value : 1.0F) : 0.0F; }
inline float __expf(float value) { return expf(value); }
inline float __logf(float value) { return logf(value); }
inline float __log2f(float value) { return log2f(value); }
inline float __powf(float base, float exponent) { return powf(base, exponent); }
inline float __sinf(float value) { return sinf(value); }
inline float __cosf(float value) { return cosf(value); }

inline long long clock64() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// NOLINTEND
