#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "device/texture.hpp"
#include "variants/distance/accumulator.hpp"

/// Where kernels read the types of the attributes from. The threads of a warp ask for the same attribute
/// at the same time, which is what constant memory is made for: source K lost half as much time again
/// with the types in a texture (K11).
namespace espalier::distance {

/// 16 KiB of the 64 KiB bank.
inline constexpr std::int64_t kConstantTypes = 16384;

namespace {

__constant__ AttributeType constant_types[kConstantTypes];

/// Of metrics that know no nominal attributes.
struct AllNumeric {
    __device__ AttributeType operator[](std::int64_t) const { return AttributeType::numeric; }
};

struct TypesInConstant {
    __device__ AttributeType operator[](std::int64_t attribute) const { return constant_types[attribute]; }
};

/// For more attributes than the constant array holds.
struct TypesInTexture {
    cudaTextureObject_t object;
    __device__ AttributeType operator[](std::int64_t attribute) const {
        return static_cast<AttributeType>(tex1Dfetch<std::uint8_t>(object, static_cast<int>(attribute)));
    }
};

enum class TypeStorage { constant_if_they_fit, texture };

/// Calls `function(metric, missing, types)`, the first two as compile-time constants, with the types of
/// the attributes where kernels can reach them.
template <class Function>
void with_metric_and_types(const Context& context, const Problem& problem, const Buffers& buffers, Function&& function,
                           TypeStorage storage = TypeStorage::constant_if_they_fit) {
    with_metric(problem, [&](auto metric, auto missing) {
        if constexpr (metric() != Metric::mixed_euclidean) {
            function(metric, missing, AllNumeric{});
        } else if (problem.dims == 0) {
            function(metric, missing, TypesInConstant{});
        } else if (storage == TypeStorage::constant_if_they_fit && problem.dims <= kConstantTypes) {
            device::copy_to_constant(constant_types, buffers.types_on_host, static_cast<std::size_t>(problem.dims),
                                     context.stream);
            function(metric, missing, TypesInConstant{});
        } else {
            const device::Texture1D<std::uint8_t> texture(reinterpret_cast<const std::uint8_t*>(buffers.types),
                                                          problem.dims);
            function(metric, missing, TypesInTexture{texture.object()});
        }
    });
}

}  // namespace
}  // namespace espalier::distance
