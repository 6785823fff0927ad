#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/core/half.hpp"
#include "kernels/problems/smallest_k.hpp"

/// The types of numbers, as they lie in memory and as they are compared: both 16-bit formats as floats, which hold
/// every one of their numbers.
namespace espalier::smallest_k {

struct Half {
    std::uint16_t bits;
};
struct Bfloat16 {
    std::uint16_t bits;
};

/// What a number of type T is while it is compared.
template <class T>
using Compared = std::conditional_t<std::is_same_v<T, std::int32_t>, std::int32_t, float>;

constexpr float compared(float value) { return value; }
constexpr std::int32_t compared(std::int32_t value) { return value; }
constexpr float compared(Half value) { return float_of_binary16(value.bits); }
constexpr float compared(Bfloat16 value) { return float_of_bfloat16(value.bits); }

/// The inverse, of a value that came from a T, or a NaN.
template <class T>
constexpr T stored(Compared<T> value) {
    if constexpr (std::is_same_v<T, Half>)
        return {binary16_of_exact(value)};
    else if constexpr (std::is_same_v<T, Bfloat16>)
        return {bfloat16_of_exact(value)};
    else
        return value;
}

template <class T>
const T* keys_of(const Buffers& buffers) {
    if constexpr (std::is_same_v<T, float>)
        return buffers.distances;
    else
        return static_cast<const T*>(buffers.keys);
}
template <class T>
T* values_of(const Buffers& buffers) {
    if constexpr (std::is_same_v<T, float>)
        return buffers.values;
    else
        return static_cast<T*>(buffers.selected);
}

/// Calls `use` with a std::type_identity of what the problem's numbers are in memory.
template <class Use>
decltype(auto) with_key_type(KeyType keys, Use&& use) {
    switch (keys) {
        case KeyType::float16: return use(std::type_identity<Half>());
        case KeyType::bfloat16: return use(std::type_identity<Bfloat16>());
        case KeyType::int32: return use(std::type_identity<std::int32_t>());
        case KeyType::float32: break;
    }
    return use(std::type_identity<float>());
}

}  // namespace espalier::smallest_k
