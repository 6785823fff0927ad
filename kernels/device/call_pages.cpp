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

constexpr std::size_t kMost = std::size_t{256} << 20;

/// Whoever comes while another one is at it goes without, so that nobody waits, not even after a fork. Nothing is
/// destroyed when the process ends: calls may come after that.
class Kept {
public:
    /// What is kept, if it is large enough.
    Bytes take(std::size_t bytes) {
        if (bytes < kLargePage || busy_.test_and_set(std::memory_order_acquire)) return {};
        const Bytes taken = kept_.size() >= bytes ? std::exchange(kept_, {}) : Bytes{};
        busy_.clear(std::memory_order_release);
        return taken;
    }

    /// Keeps the larger one, and returns the other.
    Bytes keep(Bytes memory) {
        if (memory.size() < kLargePage || memory.size() > kMost || busy_.test_and_set(std::memory_order_acquire))
            return memory;
        if (kept_.size() < memory.size() && may_be_taken_back(memory)) std::swap(kept_, memory);
        busy_.clear(std::memory_order_release);
        return memory;
    }

private:
    /// By the system. Whole pages from the aligned address on: what else lies in the last one is not ours.
    static bool may_be_taken_back([[maybe_unused]] Bytes memory) {
#ifdef MADV_FREE
        return madvise(memory.data(), memory.size() / kLargePage * kLargePage, MADV_FREE) == 0;
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
