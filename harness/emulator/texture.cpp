#include "device/texture.hpp"

#include "harness/emulator/device_heap.hpp"
#include "harness/emulator/errors.hpp"
#include "harness/emulator/kernel_code.hpp"
#include "harness/emulator/limits.hpp"

namespace espalier::device::host {
namespace {

void require(bool accepted) {
    if (!accepted) throw_error(CudaError::invalid_value, "cudaCreateTextureObject");
}

std::unique_ptr<const TextureView> make(const TextureView& view) {
    require(view.width > 0 && view.height > 0);
    require(reinterpret_cast<std::uintptr_t>(view.data) % kTextureAlignment == 0);
    const auto row_bytes = view.width * static_cast<std::int64_t>(view.element_bytes);
    const auto bytes = static_cast<std::size_t>((view.height - 1) * view.pitch_bytes + row_bytes);
    require(DeviceHeap::instance().contains(view.data, bytes));
    return std::make_unique<const TextureView>(view);
}

}  // namespace

std::unique_ptr<const TextureView> make_texture_1d(const TextureView& view) {
    require(view.width <= kTexture1DElements);
    return make(view);
}

std::unique_ptr<const TextureView> make_texture_2d(const TextureView& view) {
    require(view.width <= kTexture2DWidth && view.height <= kTexture2DHeight && view.pitch_bytes <= kTexture2DPitch);
    require(view.pitch_bytes % kTexturePitchAlignment == 0);
    require(view.pitch_bytes >= view.width * static_cast<std::int64_t>(view.element_bytes));
    return make(view);
}

const void* texture_element(unsigned long long object, std::int64_t x, std::int64_t y, std::size_t element_bytes,
                            Site site) {
    const ExecutorCode here;
    const auto* const view = reinterpret_cast<const TextureView*>(object);
    if (view == nullptr) illegal_address("a read through a null texture object", site);
    if (element_bytes != view->element_bytes)
        illegal_address("a texture of elements of " + std::to_string(view->element_bytes) + " bytes was read in " +
                            std::to_string(element_bytes),
                        site);
    if (x < 0 || y < 0 || x >= view->width || y >= view->height)
        illegal_address("read of element (" + std::to_string(x) + "," + std::to_string(y) + ") of a texture of " +
                            std::to_string(view->width) + " x " + std::to_string(view->height),
                        site);
    return view->data + y * view->pitch_bytes + x * static_cast<std::int64_t>(element_bytes);
}

}  // namespace espalier::device::host
