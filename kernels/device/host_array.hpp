#pragma once

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace espalier::device {

/// From so many bytes on `HostAllocator` begins at a multiple of it.
inline constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// Leaves elements that nobody gave a value as they are, and lies in large pages where the system has them for those
/// who ask. std::vector's own allocator has one thread write zeros over gigabytes, 4 KiB at a time, before all threads
/// write what they are for; and memory that a call touches for the first time takes longer, 4 KiB at a time, than what
/// the call does with it.
template <class T>
struct HostAllocator {
    using value_type = T;

    HostAllocator() = default;
    template <class U>
    HostAllocator(const HostAllocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): allocators convert

    [[nodiscard]] T* allocate(std::size_t count) {
        if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
        const std::size_t bytes = count * sizeof(T);
        void* memory = ::operator new(bytes, unit_of(bytes));
#ifdef MADV_HUGEPAGE
        if (bytes >= kLargePage) madvise(memory, bytes, MADV_HUGEPAGE);  // a hint
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) { ::operator delete(memory, unit_of(count * sizeof(T))); }

    template <class U>
    void construct(U* at) {
        ::new (static_cast<void*>(at)) U;
    }
    template <class U, class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }

    template <class U>
    bool operator==(const HostAllocator<U>& /*other*/) const {
        return true;
    }

private:
    static constexpr std::size_t kLine = 64;

    static std::align_val_t unit_of(std::size_t bytes) {
        return std::align_val_t{bytes < kLargePage ? kLine : kLargePage};
    }
};

/// A vector whose `resize` leaves new elements without a value: for what is written whole right after.
template <class T>
using HostArray = std::vector<T, HostAllocator<T>>;

}  // namespace espalier::device
