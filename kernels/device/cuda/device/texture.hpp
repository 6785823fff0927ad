#pragma once

// Textures read element by element, for nvcc. The twin in harness/emulator/ reports reads outside of them.

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

#include "device/kernel.hpp"

namespace espalier::device {

/// A texture object that others with the same description may share. A texture must not be destroyed
/// while a kernel that reads it may be running, and nobody who only enqueues work knows when that is:
/// so objects are kept for the next use, and those that nobody holds are destroyed after the device
/// has been waited for, when there are many.
class SharedTexture {
public:
    explicit SharedTexture(const cudaResourceDesc& resource);
    ~SharedTexture();
    SharedTexture(const SharedTexture&) = delete;
    SharedTexture& operator=(const SharedTexture&) = delete;

    [[nodiscard]] cudaTextureObject_t object() const { return object_; }

private:
    cudaTextureObject_t object_ = 0;
};

/// The texture object over this memory: an earlier one if there is one. Throws DeviceError.
std::shared_ptr<const SharedTexture> shared_texture(const cudaResourceDesc& resource);

/// `elements` values of device memory as a 1-D linear texture, read with tex1Dfetch<T>(object(), i).
/// At most DeviceInfo::texture_1d_linear_floats values of 4 bytes. May be destroyed as soon as the
/// kernels that use it are launched; the memory must outlive them.
template <class T>
class Texture1D {
public:
    Texture1D(const T* data, std::int64_t elements) {
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = const_cast<T*>(data);
        resource.res.linear.desc = cudaCreateChannelDesc<T>();
        resource.res.linear.sizeInBytes = static_cast<std::size_t>(elements) * sizeof(T);
        texture_ = shared_texture(resource);
    }
    [[nodiscard]] cudaTextureObject_t object() const { return texture_->object(); }

private:
    std::shared_ptr<const SharedTexture> texture_;
};

/// `height` rows of `width` values of device memory, `pitch_bytes` apart (a multiple of
/// DeviceInfo::texture_pitch_alignment), as a 2-D texture with point sampling, read with
/// tex2D<T>(object(), column + .5F, row + .5F). Otherwise as Texture1D.
template <class T>
class Texture2D {
public:
    Texture2D(const T* data, std::int64_t width, std::int64_t height, std::int64_t pitch_bytes) {
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D.devPtr = const_cast<T*>(data);
        resource.res.pitch2D.desc = cudaCreateChannelDesc<T>();
        resource.res.pitch2D.width = static_cast<std::size_t>(width);
        resource.res.pitch2D.height = static_cast<std::size_t>(height);
        resource.res.pitch2D.pitchInBytes = static_cast<std::size_t>(pitch_bytes);
        texture_ = shared_texture(resource);
    }
    [[nodiscard]] cudaTextureObject_t object() const { return texture_->object(); }

private:
    std::shared_ptr<const SharedTexture> texture_;
};

}  // namespace espalier::device
