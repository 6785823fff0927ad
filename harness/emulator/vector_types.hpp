#pragma once

// CUDA's vector types and their makers, with CUDA's alignments.

#include <algorithm>
#include <cstddef>

#include "harness/emulator/geometry.hpp"

namespace espalier::device::host {

template <class T>
struct Vector1 {
    T x;
};
template <class T>
struct alignas(2 * sizeof(T)) Vector2 {
    T x, y;
};
template <class T>
struct Vector3 {
    T x, y, z;
};
template <class T>
struct alignas(std::min(4 * sizeof(T), std::size_t{16})) Vector4 {
    T x, y, z, w;
};

}  // namespace espalier::device::host

#define ESPALIER_VECTOR_TYPES(name, T)                                    \
    using name##1 = espalier::device::host::Vector1<T>;                   \
    using name##2 = espalier::device::host::Vector2<T>;                   \
    using name##4 = espalier::device::host::Vector4<T>;                   \
    constexpr name##1 make_##name##1(T x) { return {x}; }                 \
    constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
    constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

#define ESPALIER_VECTOR_TYPES_WITH_3(name, T)           \
    using name##3 = espalier::device::host::Vector3<T>; \
    ESPALIER_VECTOR_TYPES(name, T)

ESPALIER_VECTOR_TYPES_WITH_3(char, signed char)
ESPALIER_VECTOR_TYPES_WITH_3(uchar, unsigned char)
ESPALIER_VECTOR_TYPES_WITH_3(short, short)
ESPALIER_VECTOR_TYPES_WITH_3(ushort, unsigned short)
ESPALIER_VECTOR_TYPES_WITH_3(int, int)
ESPALIER_VECTOR_TYPES(uint, unsigned)  // uint3 is threadIdx's type: see geometry.hpp
ESPALIER_VECTOR_TYPES_WITH_3(longlong, long long)
ESPALIER_VECTOR_TYPES_WITH_3(ulonglong, unsigned long long)
ESPALIER_VECTOR_TYPES_WITH_3(float, float)
ESPALIER_VECTOR_TYPES_WITH_3(double, double)

#undef ESPALIER_VECTOR_TYPES_WITH_3
#undef ESPALIER_VECTOR_TYPES
