#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "espalier/options.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier {

/// A copy of an array in a device's memory that outlives a call. The device must be current when one is made.
template <class T>
class Resident {
public:
    Resident() = default;
    Resident(const DeviceState& device, const T* data, std::int64_t count, const Options& options = {}) {
        const auto size = static_cast<std::size_t>(count);
        if (device.info.kind == DeviceKind::cpu) {
            host_ = std::make_unique_for_overwrite<T[]>(size);
            host_size_ = size;
            std::copy_n(data, size, host_.get());
            return;
        }
        gpu_ = device::Buffer(size * sizeof(T));
        if (options.memory == Memory::device)
            device::copy_on_device(gpu_.data(), data, gpu_.size(), options.stream);
        else
            device::copy_to_device(gpu_.data(), data, gpu_.size(), options.stream);
        device::synchronize(options.stream);
    }

    /// Takes over an array in host memory, which a CPU leaves where it is.
    Resident(const DeviceState& device, std::unique_ptr<T[]> data, std::int64_t count) {
        if (device.info.kind == DeviceKind::cpu) {
            host_ = std::move(data);
            host_size_ = static_cast<std::size_t>(count);
        } else {
            *this = Resident(device, data.get(), count);
        }
    }

    /// A copy in host memory. The device must be current.
    [[nodiscard]] std::vector<T> on_host() const {
        if (gpu_.size() == 0) return {host_.get(), host_.get() + host_size_};
        std::vector<T> copy(gpu_.size() / sizeof(T));
        device::copy_to_host(copy.data(), gpu_.data(), gpu_.size());
        device::synchronize();
        return copy;
    }

    /// Null if it is empty.
    [[nodiscard]] const T* data() const {
        if (gpu_.size() > 0) return gpu_.as<T>();
        return host_size_ == 0 ? nullptr : host_.get();
    }

private:
    std::unique_ptr<T[]> host_;
    std::size_t host_size_ = 0;
    device::Buffer gpu_;
};

}  // namespace espalier
