#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "device/texture.hpp"
#include "kernels/core/support.hpp"
#include "kernels/problems/distance.hpp"

/// Sets as 2-D textures: one row per attribute, one column per item. CUDA wants rows to start at
/// multiples of a pitch alignment, so a set whose rows do not is copied into the workspace first.
namespace espalier::distance {

/// A value of a set in a 2-D texture, in a kernel.
struct Texture2DValues {
    cudaTextureObject_t object;
    __device__ float operator()(std::int64_t attribute, std::int64_t item) const {
        return tex2D<float>(object, static_cast<float>(item) + .5F, static_cast<float>(attribute) + .5F);
    }
};

/// The most items that a row of a texture holds on the device.
inline std::int64_t most_columns(const DeviceInfo& device) {
    return std::min(device.texture_2d_width, device.texture_2d_pitch / static_cast<std::int64_t>(sizeof(float)));
}

inline std::int64_t pitch_bytes(std::int64_t items, const DeviceInfo& device) {
    const std::int64_t bytes = items * static_cast<std::int64_t>(sizeof(float));
    const std::int64_t alignment = std::max(1, device.texture_pitch_alignment);
    return (bytes + alignment - 1) / alignment * alignment;
}

/// Workspace for a copy of `items` items: textures start at multiples of 512 bytes.
inline std::size_t pitched_bytes(std::int64_t items, std::int64_t dims, const DeviceInfo& device) {
    return static_cast<std::size_t>((pitch_bytes(items, device) * dims + 511) / 512 * 512);
}

/// Whether the attributes, and `items` items of which none can be left for later, fit.
inline Support fit_texture_2d(std::int64_t items, std::int64_t dims, const DeviceInfo& device) {
    if (items > most_columns(device))
        return Support::no(std::to_string(items) + " points exceed the width of the device's 2-D textures of " +
                           std::to_string(most_columns(device)));
    if (dims > device.texture_2d_height)
        return Support::no(std::to_string(dims) + " attributes exceed the height of the device's 2-D textures of " +
                           std::to_string(device.texture_2d_height));
    return Support::yes();
}

namespace {

__global__ void copy_pitched(const float* values, std::int64_t items, std::int64_t first, std::int64_t count,
                             std::int64_t dims, std::int64_t pitch, float* pitched) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count * dims) pitched[i / count * pitch + i % count] = values[i / count * items + first + i % count];
}

/// `count` of a set's `items` items from `first` on, bound to a texture (to none without attributes).
class PitchedTexture {
public:
    PitchedTexture(const Context& context, const float* values, std::int64_t items, std::int64_t first,
                   std::int64_t count, std::int64_t dims, std::byte* copy) {
        if (dims == 0) return;
        const std::int64_t pitch = pitch_bytes(count, context.device);
        const bool in_place = count == items && pitch == items * static_cast<std::int64_t>(sizeof(float)) &&
                              reinterpret_cast<std::uintptr_t>(values) % 512 == 0;
        if (!in_place) {
            constexpr unsigned kBlock = 256;
            auto* const pitched = reinterpret_cast<float*>(copy);
            device::launch(copy_pitched, dim3(static_cast<unsigned>((count * dims + kBlock - 1) / kBlock)),
                           dim3(kBlock), 0, context.stream, values, items, first, count, dims,
                           pitch / static_cast<std::int64_t>(sizeof(float)), pitched);
            values = pitched;
        }
        texture_ = std::make_unique<const device::Texture2D<float>>(values, count, dims, pitch);
    }

    [[nodiscard]] Texture2DValues values() const { return {texture_ ? texture_->object() : 0}; }

private:
    std::unique_ptr<const device::Texture2D<float>> texture_;
};

}  // namespace
}  // namespace espalier::distance
