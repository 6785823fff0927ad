// What tests of plans share: arrays and workspaces on the CPU and on GPU 0, which is the host executor's or a real one.

#pragma once

#include <string>
#include <vector>

#include "kernels/api/arrays.hpp"
#include "kernels/device/runtime.hpp"
#include "tests/kernels/api/api_helpers.hpp"

namespace espalier {

/// An array where a plan expects it: in host memory, or in that of GPU 0.
template <class T>
class Array {
public:
    Array(std::vector<T> values, Memory memory) : host_(std::move(values)) {
        if (memory == Memory::host) return;
        gpu_ = device::Buffer(host_.size() * sizeof(T));
        device::copy_to_device(gpu_.data(), host_.data(), gpu_.size());
        device::synchronize();
    }
    Array(std::size_t count, Memory memory) : Array(std::vector<T>(count), memory) {}

    [[nodiscard]] T* data() { return gpu_.size() > 0 ? gpu_.as<T>() : host_.data(); }
    [[nodiscard]] std::span<T> span() { return {data(), host_.size()}; }
    [[nodiscard]] std::vector<T> values() const {
        std::vector<T> copy = host_;
        if (gpu_.size() > 0) device::copy_to_host(copy.data(), gpu_.data(), gpu_.size());
        if (gpu_.size() > 0) device::synchronize();
        return copy;
    }

private:
    std::vector<T> host_;
    device::Buffer gpu_;
};

/// A plan's workspace, exactly as large as it says.
class Workspace {
public:
    Workspace(const Device& device, std::size_t bytes) : bytes_(bytes) {
        if (device.is_cuda())
            gpu_ = device::Buffer(bytes);
        else
            cpu_.resize(bytes + kCpuAlignment);
    }
    explicit Workspace(const Plan& plan) : Workspace(plan.device(), plan.workspace_bytes()) {}

    [[nodiscard]] std::span<std::byte> span() {
        if (cpu_.empty()) return {gpu_.data(), bytes_};
        const auto address = reinterpret_cast<std::uintptr_t>(cpu_.data());
        return {cpu_.data() + (kCpuAlignment - address % kCpuAlignment) % kCpuAlignment, bytes_};
    }

private:
    std::size_t bytes_;
    device::Buffer gpu_;
    std::vector<std::byte> cpu_;
};

struct Where {
    Device device;
    Memory memory;
};

inline std::vector<Where> places() {
    std::vector<Where> all;
    for (const Device& device : usable_devices()) {
        all.push_back({device, Memory::host});
        if (device.is_cuda()) all.push_back({device, Memory::device});
    }
    return all;
}

inline std::vector<float> numbers(std::size_t count, int seed) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(((i + static_cast<std::size_t>(seed)) * 2654435761U) % 1009) / 16;
    return values;
}

inline void wait(const Device& device) {
    if (device.is_cuda()) device::synchronize();
}

inline std::string name(const Where& where) {
    return where.device.key() + (where.memory == Memory::host ? " from host memory" : " in device memory");
}

}  // namespace espalier
