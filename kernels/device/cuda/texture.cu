#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "device/texture.hpp"

namespace espalier::device {
namespace {

constexpr std::size_t kKept = 64;

/// Everything that tells two textures apart, in comparable form.
using Key = std::array<std::uint64_t, 8>;

Key key_of(const cudaResourceDesc& resource, int device) {
    const auto format = [](const cudaChannelFormatDesc& desc) {
        return static_cast<std::uint64_t>(desc.x) | static_cast<std::uint64_t>(desc.y) << 8 |
               static_cast<std::uint64_t>(desc.z) << 16 | static_cast<std::uint64_t>(desc.w) << 24 |
               static_cast<std::uint64_t>(desc.f) << 32;
    };
    const auto head = [&](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
    const auto kind = static_cast<std::uint64_t>(resource.resType);
    const auto ordinal = static_cast<std::uint64_t>(device);
    if (resource.resType == cudaResourceTypeLinear) {
        const auto& linear = resource.res.linear;
        return {kind, ordinal, head(linear.devPtr), format(linear.desc), linear.sizeInBytes};
    }
    const auto& pitched = resource.res.pitch2D;
    return {kind,          ordinal,        head(pitched.devPtr), format(pitched.desc),
            pitched.width, pitched.height, pitched.pitchInBytes};
}

/// The textures of the process. Never destroyed: the driver may be gone by then.
struct Cache {
    std::mutex mutex;
    std::map<Key, std::shared_ptr<const SharedTexture>> textures;
};

Cache& cache() {
    static auto* const instance = new Cache;
    return *instance;
}

}  // namespace

SharedTexture::SharedTexture(const cudaResourceDesc& resource) {
    cudaTextureDesc description{};
    std::fill(std::begin(description.addressMode), std::end(description.addressMode), cudaAddressModeClamp);
    description.filterMode = cudaFilterModePoint;
    description.readMode = cudaReadModeElementType;
    description.normalizedCoords = 0;
    check(cudaCreateTextureObject(&object_, &resource, &description, nullptr), "cudaCreateTextureObject");
}

SharedTexture::~SharedTexture() { cudaDestroyTextureObject(object_); }

std::shared_ptr<const SharedTexture> shared_texture(const cudaResourceDesc& resource) {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    const Key key = key_of(resource, device);
    const std::lock_guard lock(cache().mutex);
    auto& textures = cache().textures;
    if (const auto found = textures.find(key); found != textures.end()) return found->second;
    auto texture = std::make_shared<const SharedTexture>(resource);
    if (textures.size() >= kKept) {
        check(cudaDeviceSynchronize(), "waiting for kernels that read textures");
        std::erase_if(textures, [](const auto& entry) { return entry.second.use_count() == 1; });
    }
    textures.emplace(key, texture);
    return texture;
}

}  // namespace espalier::device
