#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "device/texture.hpp"
#include "kernels/core/support.hpp"
#include "kernels/problems/distance.hpp"

/// The two sets as 1-D linear textures: reads go through the texture cache, which on the sources' GPUs
/// was the only one for global memory.
namespace espalier::distance {

/// Element i of an attribute-major set, in a kernel.
struct TextureValues {
    cudaTextureObject_t object;
    int offset;
    __device__ float operator[](std::int64_t i) const {
        return tex1Dfetch<float>(object, offset + static_cast<int>(i));
    }
};

/// A set of values bound to a texture (to none if it is empty). The hardware wants its first element at a
/// multiple of 512 bytes: the texture starts at the last such address before the values, which belongs to
/// the same allocation.
class ValueTexture {
public:
    ValueTexture(const float* values, std::int64_t count)
        : offset_(static_cast<int>(reinterpret_cast<std::uintptr_t>(values) % kAlignment / sizeof(float))) {
        if (count > 0) texture_ = std::make_unique<const device::Texture1D<float>>(values - offset_, count + offset_);
    }

    [[nodiscard]] TextureValues values() const { return {texture_ ? texture_->object() : 0, offset_}; }

private:
    static constexpr std::uintptr_t kAlignment = 512;
    int offset_;
    std::unique_ptr<const device::Texture1D<float>> texture_;
};

/// Whether both sets fit the device's 1-D linear textures.
inline Support fit_linear_textures(const Problem& problem, const DeviceInfo& device) {
    const std::int64_t most = std::max(problem.queries, problem.points) * problem.dims;
    if (most > device.texture_1d_linear_floats)
        return Support::no("a set of " + std::to_string(most) + " values exceeds the device's 1-D textures of " +
                           std::to_string(device.texture_1d_linear_floats));
    return Support::yes();
}

}  // namespace espalier::distance
