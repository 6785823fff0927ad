#include "kernels/device/call_pages.hpp"

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include <atomic>
#include <span>
#include <utility>

#include "kernels/device/host_array.hpp"

namespace espalier::device {
namespace {

using Bytes = std::span<std::byte>;

constexpr std::size_t kUnit = std::size_t{2} << 20, kMost = std::size_t{256} << 20;

/// Whoever comes while another one is at it goes without, so that nobody waits, not even after a fork. Nothing is
/// destroyed when the process ends: calls may come after that.
class Kept {
public:
    /// What is kept, if it is large enough.
    Bytes take(std::size_t bytes) {
        if (bytes < kUnit || busy_.test_and_set(std::memory_order_acquire)) return {};
        const Bytes taken = kept_.size() >= bytes ? std::exchange(kept_, {}) : Bytes{};
        busy_.clear(std::memory_order_release);
        return taken;
    }

    /// Keeps the larger one, and returns the other.
    Bytes keep(Bytes memory) {
        if (!may_keep(memory) || busy_.test_and_set(std::memory_order_acquire)) return memory;
        if (kept_.size() < memory.size()) std::swap(kept_, memory);
        busy_.clear(std::memory_order_release);
        return memory;
    }

private:
    static bool may_keep([[maybe_unused]] Bytes memory) {
#ifdef MADV_FREE
        // Whole units from an aligned address on: what else lies in the last page is not ours.
        return memory.size() >= kUnit && memory.size() <= kMost &&
               madvise(memory.data(), memory.size() / kUnit * kUnit, MADV_FREE) == 0;
#else
        return false;
#endif
    }

    std::atomic_flag busy_;
    Bytes kept_;
};

constinit Kept kept;

}  // namespace

CallPages::CallPages(std::size_t bytes) {
    Bytes memory = kept.take(bytes);
    if (!memory.data()) memory = {HostAllocator<std::byte>().allocate(bytes), bytes};
    memory_ = {memory.data(), Return{memory.size()}};
}

void CallPages::Return::operator()(std::byte* memory) const {
    const Bytes left = kept.keep({memory, bytes});
    if (left.data()) HostAllocator<std::byte>().deallocate(left.data(), left.size());
}

}  // namespace espalier::device
