#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/half.hpp"
#include "device/kernel.hpp"
#include "variants/smallest_k/key_types.hpp"
#include "variants/smallest_k/order.hpp"

/// Numbers of every type in a kernel: key_types.hpp with the instructions that a GPU has for it.
namespace espalier::smallest_k {
namespace {

__device__ inline float loaded(float value) { return value; }
__device__ inline std::int32_t loaded(std::int32_t value) { return value; }
__device__ inline float loaded(Half value) { return device::float_of_half(value.bits); }
__device__ inline float loaded(Bfloat16 value) { return device::float_of_bfloat(value.bits); }

template <class T>
__device__ T to_store(Compared<T> value) {
    if constexpr (std::is_same_v<T, Half>)
        return {device::half_of_exact(value)};
    else
        return stored<T>(value);
}

}  // namespace
}  // namespace espalier::smallest_k
