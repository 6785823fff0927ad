#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace espalier::bench {

/// Leaves elements that nobody gave a value as they are, and lies in large pages. std::vector's own allocator has one
/// thread write zeros over gigabytes, 4 KiB at a time, before all threads write what they are for.
template <class T>
struct HostAllocator {
    using value_type = T;

    HostAllocator() = default;
    template <class U>
    HostAllocator(const HostAllocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): allocators convert

    [[nodiscard]] T* allocate(std::size_t count) {
        constexpr std::size_t kLargePage = std::size_t{2} << 20, kLine = 64;
        if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
        const std::size_t bytes = count * sizeof(T), unit = bytes < kLargePage ? kLine : kLargePage;
        const std::size_t whole = (bytes + unit - 1) / unit * unit;
        void* memory = std::aligned_alloc(unit, whole);
        if (!memory) throw std::bad_alloc();
        if (unit == kLargePage) madvise(memory, whole, MADV_HUGEPAGE);  // a hint
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t /*count*/) { std::free(memory); }

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
};

/// A vector whose `resize` leaves new elements without a value: for what is written whole right after.
template <class T>
using HostArray = std::vector<T, HostAllocator<T>>;

}  // namespace espalier::bench
