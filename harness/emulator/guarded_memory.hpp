#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harness/base/guard_pages.hpp"

namespace espalier::device::host {

/// Memory of exactly `bytes` bytes between two bands that nothing may touch. AddressSanitizer reports an
/// access to a band at once; without it the bands hold a known value and `damage` finds writes later.
/// Starts at a multiple of `alignment` and ends at the exact byte. Filled with the poison given, never
/// with zeros by chance.
class GuardedMemory {
public:
    static constexpr std::size_t kBand = 256;  ///< bytes of the bands, at least

    GuardedMemory() = default;
    GuardedMemory(std::size_t bytes, std::size_t alignment, std::uint8_t poison);
    ~GuardedMemory();
    GuardedMemory(GuardedMemory&& other) noexcept;
    GuardedMemory& operator=(GuardedMemory&& other) noexcept;

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    void fill(std::uint8_t value);

    /// Where a band was written to, in words; nothing if both are whole. Repairs them.
    std::optional<std::string> damage();

private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t alignment_ = 1;
    std::size_t band_ = 0;
    std::unique_ptr<bench::PagedMemory>
        pages_;  ///< it lies in these, and has no bands, where guard pages are asked for
};

}  // namespace espalier::device::host
