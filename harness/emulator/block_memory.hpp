#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/emulator/guarded_memory.hpp"
#include "harness/emulator/kernel_side.hpp"

namespace espalier::device::host {

/// The shared memory of one block at a time, every array of it between guard bands.
class BlockMemory {
public:
    /// Dynamic shared memory is 16-byte aligned, as device/cuda declares it.
    BlockMemory(std::size_t dynamic_bytes, std::uint8_t poison);

    [[nodiscard]] void* dynamic() const { return arrays_.front().memory.data(); }

    /// The static array called `key`, made on first use.
    void* array(const SharedArray& wanted);
    [[nodiscard]] std::size_t static_bytes() const { return static_bytes_; }
    [[nodiscard]] std::size_t dynamic_bytes() const { return arrays_.front().memory.size(); }

    /// The array that `address` is in or in the bands of, or nothing: its name and its memory.
    struct Place {
        const std::string& name;
        std::span<const std::byte> memory;
    };
    [[nodiscard]] std::optional<Place> find(const std::byte* address) const;

    [[nodiscard]] std::vector<std::span<const std::byte>> arrays() const;

    /// Forgets what the last block left.
    void poison();

    /// Which array was written past its ends, in words; nothing if none was.
    std::optional<std::string> damage();

private:
    struct Array {
        const void* key;  ///< null for dynamic shared memory
        std::string name;
        GuardedMemory memory;
    };
    std::vector<Array> arrays_;  // a kernel has a handful: looked up from front to back
    std::size_t static_bytes_ = 0;
    std::uint8_t poison_;
};

}  // namespace espalier::device::host
