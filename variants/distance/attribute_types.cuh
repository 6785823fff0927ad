#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "device/texture.hpp"
#include "variants/distance/accumulator.hpp"

/// Where kernels read the types of the attributes from. The threads of a warp ask for the same attribute
/// at the same time, which is what constant memory is made for: source K lost half as much time again
/// with the types in a texture (K11).
namespace espalier::distance {

inline constexpr std::int64_t kConstantTypes = 16384;

namespace {

/// Of metrics that know no nominal attributes.
struct AllNumeric {
    __device__ AttributeType operator[](std::int64_t) const { return AttributeType::numeric; }
};

/// A bit per attribute, as a kernel parameter: those live in the constant bank too, but belong to the
/// launch, so that launches in two streams can have different types, and need no copy of their own.
struct TypesInConstant {
    std::uint32_t nominal[kConstantTypes / 32];

    TypesInConstant(const AttributeType* types, std::int64_t dims) : nominal{} {
        for (std::int64_t a = 0; a < dims; ++a)
            if (types[a] == AttributeType::nominal) nominal[a / 32] |= 1U << a % 32;
    }
    __device__ AttributeType operator[](std::int64_t attribute) const {
        return static_cast<AttributeType>(nominal[attribute / 32] >> attribute % 32 & 1U);
    }
};

/// For more attributes than that.
struct TypesInTexture {
    cudaTextureObject_t object;
    __device__ AttributeType operator[](std::int64_t attribute) const {
        return static_cast<AttributeType>(tex1Dfetch<std::uint8_t>(object, static_cast<int>(attribute)));
    }
};

enum class TypeStorage { constant_if_they_fit, texture };

/// Calls `function(metric, missing, types)`, the first two as compile-time constants, with the types of
/// the attributes as a kernel's argument.
template <class Function>
void with_metric_and_types(const Problem& problem, const Buffers& buffers, Function&& function,
                           TypeStorage storage = TypeStorage::constant_if_they_fit) {
    with_metric(problem, [&](auto metric, auto missing) {
        if constexpr (metric() != Metric::mixed_euclidean) {
            function(metric, missing, AllNumeric{});
        } else if (problem.dims == 0 ||
                   (storage == TypeStorage::constant_if_they_fit && problem.dims <= kConstantTypes)) {
            function(metric, missing, TypesInConstant(buffers.types_on_host, problem.dims));
        } else {
            const device::Texture1D<std::uint8_t> texture(reinterpret_cast<const std::uint8_t*>(buffers.types),
                                                          problem.dims);
            function(metric, missing, TypesInTexture{texture.object()});
        }
    });
}

}  // namespace
}  // namespace espalier::distance
