#include "harness/emulator/guarded_memory.hpp"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace espalier::device::host {
namespace {

constexpr std::byte kCanary{0xC7};

/// The largest distance from `data`'s end or start that was written to, or 0.
std::size_t touched(const std::byte* band, std::size_t bytes, bool after) {
    for (std::size_t distance = bytes; distance > 0; --distance)
        if (band[after ? distance - 1 : bytes - distance] != kCanary) return distance;
    return 0;
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes, std::size_t alignment, std::uint8_t poison)
    : size_(bytes), alignment_(alignment), band_((kBand + alignment - 1) / alignment * alignment) {
    if (bench::guard_pages()) {
        pages_ = std::make_unique<bench::PagedMemory>(bytes, alignment);
        data_ = pages_->data();
        fill(poison);
        return;
    }
    auto* const whole = static_cast<std::byte*>(::operator new (band_ + bytes + kBand, std::align_val_t{alignment}));
    data_ = whole + band_;
    std::memset(whole, static_cast<int>(kCanary), band_);
    fill(poison);
    std::memset(data_ + size_, static_cast<int>(kCanary), kBand);
    ASAN_POISON_MEMORY_REGION(whole, band_);
    ASAN_POISON_MEMORY_REGION(data_ + size_, kBand);
}

GuardedMemory::~GuardedMemory() {
    if (data_ == nullptr || pages_) return;
    ASAN_UNPOISON_MEMORY_REGION(data_ - band_, band_ + size_ + kBand);
    ::operator delete (data_ - band_, std::align_val_t{alignment_});
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      alignment_(other.alignment_),
      band_(other.band_),
      pages_(std::move(other.pages_)) {}

GuardedMemory& GuardedMemory::operator=(GuardedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(alignment_, other.alignment_);
    std::swap(band_, other.band_);
    std::swap(pages_, other.pages_);
    return *this;
}

void GuardedMemory::fill(std::uint8_t value) { std::memset(data_, value, size_); }

std::optional<std::string> GuardedMemory::damage() {
    if (data_ == nullptr || pages_) return std::nullopt;
    ASAN_UNPOISON_MEMORY_REGION(data_ - band_, band_);
    ASAN_UNPOISON_MEMORY_REGION(data_ + size_, kBand);
    const std::size_t before = touched(data_ - band_, band_, false);
    const std::size_t after = touched(data_ + size_, kBand, true);
    std::memset(data_ - band_, static_cast<int>(kCanary), band_);
    std::memset(data_ + size_, static_cast<int>(kCanary), kBand);
    ASAN_POISON_MEMORY_REGION(data_ - band_, band_);
    ASAN_POISON_MEMORY_REGION(data_ + size_, kBand);
    if (after != 0) return "up to " + std::to_string(after) + " bytes past its end";
    if (before != 0) return "up to " + std::to_string(before) + " bytes before its start";
    return std::nullopt;
}

}  // namespace espalier::device::host
