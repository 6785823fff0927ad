#pragma once

// Textures read element by element, for the host compiler. The twin in device/cuda has the same classes
// over the hardware's texture units. A read outside of a texture is 0 or clamped there and an
// ExecutionFault here: no variant may depend on it.

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "device/kernel.hpp"

namespace espalier::device::host {

/// The texture that a texture object refers to; its address is the object.
struct TextureView {
    const std::byte* data;
    std::int64_t width, height;  ///< in elements; height 1 for a 1-D texture
    std::int64_t pitch_bytes;
    std::size_t element_bytes;
};

/// Checks a view as cudaCreateTextureObject would. Throws DeviceError.
std::unique_ptr<const TextureView> make_texture_1d(const TextureView& view);
std::unique_ptr<const TextureView> make_texture_2d(const TextureView& view);

/// The address of an element, or an ExecutionFault.
const void* texture_element(unsigned long long object, std::int64_t x, std::int64_t y, std::size_t element_bytes,
                            Site site);

}  // namespace espalier::device::host

using cudaTextureObject_t = unsigned long long;

template <class T>
T tex1Dfetch(cudaTextureObject_t object, int x,
             espalier::device::host::Site site = espalier::device::host::Site::current()) {
    return *static_cast<const T*>(espalier::device::host::texture_element(object, x, 0, sizeof(T), site));
}

/// Coordinates are not normalised: element (column, row) is read at (column + .5F, row + .5F).
template <class T>
T tex2D(cudaTextureObject_t object, float x, float y,
        espalier::device::host::Site site = espalier::device::host::Site::current()) {
    const auto whole = [](float coordinate) { return static_cast<std::int64_t>(__float2ll_rn(floorf(coordinate))); };
    return *static_cast<const T*>(espalier::device::host::texture_element(object, whole(x), whole(y), sizeof(T), site));
}

namespace espalier::device {

/// `elements` values of device memory as a 1-D linear texture, read with tex1Dfetch<T>(object(), i).
/// At most DeviceInfo::texture_1d_linear_floats values of 4 bytes. May be destroyed as soon as the
/// kernels that use it are launched; the memory must outlive them.
template <class T>
class Texture1D {
public:
    Texture1D(const T* data, std::int64_t elements)
        : view_(host::make_texture_1d({reinterpret_cast<const std::byte*>(data), elements, 1,
                                       elements * static_cast<std::int64_t>(sizeof(T)), sizeof(T)})) {}
    [[nodiscard]] cudaTextureObject_t object() const { return reinterpret_cast<cudaTextureObject_t>(view_.get()); }

private:
    std::unique_ptr<const host::TextureView> view_;
};

/// `height` rows of `width` values of device memory, `pitch_bytes` apart (a multiple of
/// DeviceInfo::texture_pitch_alignment), as a 2-D texture with point sampling, read with
/// tex2D<T>(object(), column + .5F, row + .5F). Otherwise as Texture1D.
template <class T>
class Texture2D {
public:
    Texture2D(const T* data, std::int64_t width, std::int64_t height, std::int64_t pitch_bytes)
        : view_(host::make_texture_2d(
              {reinterpret_cast<const std::byte*>(data), width, height, pitch_bytes, sizeof(T)})) {}
    [[nodiscard]] cudaTextureObject_t object() const { return reinterpret_cast<cudaTextureObject_t>(view_.get()); }

private:
    std::unique_ptr<const host::TextureView> view_;
};

}  // namespace espalier::device
