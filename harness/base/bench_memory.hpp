#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/core/device_info.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {

/// Memory where the variants of one kind of device can reach it. Exactly as large as asked for, so
/// that a memory checker sees the first byte read past it.
class BenchMemory {
public:
    BenchMemory(DeviceKind kind, std::size_t bytes);

    [[nodiscard]] std::byte* data() const { return host_ ? host_.get() : device_.data(); }
    [[nodiscard]] std::size_t size() const { return size_; }
    void store(std::size_t offset, std::span<const std::byte> from);
    void load(std::size_t offset, std::span<std::byte> to) const;
    void fill(std::size_t offset, std::size_t bytes, std::uint8_t value);
    void copy_from(const std::byte* from);  ///< size() bytes of the same kind of memory
    [[nodiscard]] bool equals(const std::byte* other) const;

private:
    std::size_t size_;
    std::shared_ptr<std::byte> host_;  ///< before a guard page where those are asked for
    device::Buffer device_;
};

}  // namespace espalier::bench
