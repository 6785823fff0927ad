#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/emulator/guarded_memory.hpp"

namespace espalier::device::host {

/// Bytes of device memory that the emulated GPU has: few, so that running out can be tested on any
/// machine, and enough for every edge case.
inline constexpr std::size_t kDeviceMemory = std::size_t{8} << 30;

/// All device memory of the process. Copies are checked against it as the driver checks them, and its
/// guard bands after every launch. Safe to use from several threads.
class DeviceHeap {
public:
    static DeviceHeap& instance();

    std::byte* allocate(std::size_t bytes);
    void release(std::byte* data);

    [[nodiscard]] std::size_t used() const;

    /// Whether [data, data + bytes) lies within one allocation.
    [[nodiscard]] bool contains(const void* data, std::size_t bytes) const;

    /// The allocations as they are now, by address.
    [[nodiscard]] std::vector<std::span<const std::byte>> allocations() const;

    /// Which allocation was written just outside of since the last call, in words. Repairs all.
    std::optional<std::string> damage();

private:
    DeviceHeap() = default;
    mutable std::mutex mutex_;
    std::map<const std::byte*, GuardedMemory> allocations_;
    std::size_t used_ = 0;
};

}  // namespace espalier::device::host
