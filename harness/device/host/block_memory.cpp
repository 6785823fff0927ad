#include "harness/device/host/block_memory.hpp"

#include <algorithm>

namespace espalier::device::host {

BlockMemory::BlockMemory(std::size_t dynamic_bytes, std::uint8_t poison) : poison_(poison) {
    arrays_.push_back({nullptr, GuardedMemory(dynamic_bytes, 16, poison)});
}

void* BlockMemory::array(const void* key, std::size_t bytes, std::size_t alignment) {
    for (Array& array : arrays_)
        if (array.key == key) return array.memory.data();
    static_bytes_ += bytes;
    arrays_.push_back({key, GuardedMemory(bytes, std::max<std::size_t>(alignment, 8), poison_)});
    return arrays_.back().memory.data();
}

void BlockMemory::poison() {
    for (Array& array : arrays_) array.memory.fill(poison_);
}

std::optional<std::string> BlockMemory::damage() {
    for (Array& array : arrays_)
        if (const auto where = array.memory.damage())
            return (array.key == nullptr ? "dynamic shared memory of " : "a static shared array of ") +
                   std::to_string(array.memory.size()) + " bytes was written " + *where;
    return std::nullopt;
}

}  // namespace espalier::device::host
