#include "harness/emulator/device_heap.hpp"

#include <new>
#include <string>

#include "harness/emulator/errors.hpp"
#include "harness/emulator/executor.hpp"

namespace espalier::device::host {
namespace {

constexpr std::size_t kAlignment = 512;  // what cudaMalloc gives, as textures need it

}  // namespace

DeviceHeap& DeviceHeap::instance() {
    static auto* const heap = new DeviceHeap;  // outlives every static Buffer
    return *heap;
}

std::byte* DeviceHeap::allocate(std::size_t bytes) {
    const std::string call = "allocating " + std::to_string(bytes) + " bytes of device memory";
    const std::lock_guard lock(mutex_);
    if (bytes > kDeviceMemory - used_) throw_error(CudaError::memory_allocation, call);
    try {
        GuardedMemory memory(bytes, kAlignment, current_execution().poison);
        std::byte* const data = memory.data();
        allocations_.emplace(data, std::move(memory));
        used_ += bytes;
        return data;
    } catch (const std::bad_alloc&) {
        throw_error(CudaError::memory_allocation, call);
    }
}

void DeviceHeap::release(std::byte* data) {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(data);
    if (found == allocations_.end()) return;
    used_ -= found->second.size();
    allocations_.erase(found);
}

std::size_t DeviceHeap::used() const {
    const std::lock_guard lock(mutex_);
    return used_;
}

bool DeviceHeap::contains(const void* data, std::size_t bytes) const {
    const auto* const first = static_cast<const std::byte*>(data);
    const std::lock_guard lock(mutex_);
    auto after = allocations_.upper_bound(first);
    if (after == allocations_.begin()) return false;
    const GuardedMemory& memory = (--after)->second;
    const auto offset = static_cast<std::size_t>(first - memory.data());
    return offset <= memory.size() && bytes <= memory.size() - offset;
}

std::vector<std::span<const std::byte>> DeviceHeap::allocations() const {
    std::vector<std::span<const std::byte>> all;
    const std::lock_guard lock(mutex_);
    for (const auto& [data, memory] : allocations_) all.emplace_back(data, memory.size());
    return all;
}

std::optional<std::string> DeviceHeap::damage() {
    std::optional<std::string> found;
    const std::lock_guard lock(mutex_);
    for (auto& [data, memory] : allocations_)
        if (const auto where = memory.damage(); where && !found)
            found = "device memory of " + std::to_string(memory.size()) + " bytes was written " + *where;
    return found;
}

}  // namespace espalier::device::host
