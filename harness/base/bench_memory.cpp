#include "harness/base/bench_memory.hpp"

#include <cstring>
#include <new>

#include "harness/base/guard_pages.hpp"

namespace espalier::bench {
namespace {

constexpr std::align_val_t kHostAlignment{64};

}  // namespace

BenchMemory::BenchMemory(DeviceKind kind, std::size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    if (kind != DeviceKind::cpu) {
        device_ = device::Buffer(bytes);
    } else if (guard_pages()) {
        auto pages = std::make_shared<PagedMemory>(bytes, static_cast<std::size_t>(kHostAlignment));
        host_ = std::shared_ptr<std::byte>(pages, pages->data());
    } else {
        host_.reset(static_cast<std::byte*>(::operator new(bytes, kHostAlignment)),
                    [](std::byte* data) { ::operator delete(data, kHostAlignment); });
    }
}

void BenchMemory::store(std::size_t offset, std::span<const std::byte> from) {
    if (from.empty()) return;
    if (host_)
        std::memcpy(data() + offset, from.data(), from.size());
    else
        device::copy_to_device(data() + offset, from.data(), from.size());
}

void BenchMemory::load(std::size_t offset, std::span<std::byte> to) const {
    if (to.empty()) return;
    if (host_) {
        std::memcpy(to.data(), data() + offset, to.size());
    } else {
        device::copy_to_host(to.data(), data() + offset, to.size());
        device::synchronize();
    }
}

void BenchMemory::fill(std::size_t offset, std::size_t bytes, std::uint8_t value) {
    if (bytes == 0) return;
    if (host_)
        std::memset(data() + offset, value, bytes);
    else
        device::fill(data() + offset, value, bytes);
}

void BenchMemory::copy_from(const std::byte* from) {
    if (size_ == 0) return;
    if (host_)
        std::memcpy(data(), from, size_);
    else
        device::copy_on_device(data(), from, size_);
}

bool BenchMemory::equals(const std::byte* other) const {
    if (size_ == 0) return true;
    return host_ ? std::memcmp(data(), other, size_) == 0 : device::equal(data(), other, size_);
}

}  // namespace espalier::bench
