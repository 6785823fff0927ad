#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "espalier/options.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/device/host_array.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier {

/// An array in a device's memory that outlives a call: a copy of its own, or somebody else's. The device must be
/// current when one is made.
template <class T>
class Resident {
public:
    Resident() = default;
    Resident(const DeviceState& device, const T* data, std::int64_t count, const Options& options = {})
        : count_(static_cast<std::size_t>(count)), on_gpu_(device.info.kind == DeviceKind::cuda) {
        if (!on_gpu_) {
            host_.resize(count_);
            std::copy_n(data, count_, host_.data());
            data_ = host_.data();
            return;
        }
        gpu_ = device::Buffer(count_ * sizeof(T));
        data_ = gpu_.as<T>();
        if (options.memory == Memory::device)
            device::copy_on_device(gpu_.data(), data, gpu_.size(), options.stream);
        else
            device::copy_to_device(gpu_.data(), data, gpu_.size(), options.stream);
        device::synchronize(options.stream);
    }

    /// Takes over an array in host memory, which a CPU leaves where it is.
    Resident(const DeviceState& device, device::HostArray<T> data, std::int64_t count) {
        if (device.info.kind == DeviceKind::cpu) {
            host_ = std::move(data);
            data_ = host_.data();
            count_ = static_cast<std::size_t>(count);
        } else {
            *this = Resident(device, data.data(), count);
        }
    }

    /// Takes over an array in the current GPU's memory.
    explicit Resident(device::Buffer data)
        : gpu_(std::move(data)), data_(gpu_.as<T>()), count_(gpu_.size() / sizeof(T)), on_gpu_(true) {}

    /// An array that is on the device and stays there for as long as this.
    static Resident borrowed(const DeviceState& device, const T* data, std::int64_t count) {
        Resident array;
        array.data_ = data;
        array.count_ = static_cast<std::size_t>(count);
        array.on_gpu_ = device.info.kind == DeviceKind::cuda;
        return array;
    }

    /// A copy in host memory. The device must be current.
    [[nodiscard]] std::vector<T> on_host() const {
        if (!on_gpu_ || count_ == 0) return {data_, data_ + count_};
        std::vector<T> copy(count_);
        device::copy_to_host(copy.data(), data_, count_ * sizeof(T));
        device::synchronize();
        return copy;
    }

    /// Null if it is empty.
    [[nodiscard]] const T* data() const { return count_ == 0 ? nullptr : data_; }

private:
    device::HostArray<T> host_;
    device::Buffer gpu_;
    const T* data_ = nullptr;
    std::size_t count_ = 0;
    bool on_gpu_ = false;
};

}  // namespace espalier
