#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace espalier::bench {

/// Whether arrays that variants run on lie before guard pages, in this process: when variants are verified, never when
/// they are timed.
inline bool& guard_pages() {
    static bool on = false;
    return on;
}

/// Asks for them while it lives.
class GuardedArrays {
public:
    GuardedArrays() : before_(guard_pages()) { guard_pages() = true; }
    ~GuardedArrays() { guard_pages() = before_; }
    GuardedArrays(const GuardedArrays&) = delete;
    GuardedArrays& operator=(const GuardedArrays&) = delete;

private:
    bool before_;
};

/// Memory whose end, rounded up to its alignment, is the end of a page that no page follows: whoever reads or writes
/// there is stopped by a SIGSEGV. Nothing lies before its first page either.
class PagedMemory {
public:
    PagedMemory(std::size_t bytes, std::size_t alignment) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
        const std::size_t inner = (rounded + page - 1) / page * page;
        mapped_ = inner + 2 * page;
        void* const start = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start == MAP_FAILED) throw std::bad_alloc();
        start_ = static_cast<std::byte*>(start);
        if (mprotect(start_ + page, inner, PROT_READ | PROT_WRITE) != 0) {
            munmap(start_, mapped_);
            throw std::bad_alloc();
        }
        data_ = start_ + page + inner - rounded;
    }
    ~PagedMemory() { munmap(start_, mapped_); }
    PagedMemory(const PagedMemory&) = delete;
    PagedMemory& operator=(const PagedMemory&) = delete;

    [[nodiscard]] std::byte* data() const { return data_; }

private:
    std::byte *start_ = nullptr, *data_ = nullptr;
    std::size_t mapped_ = 0;
};

}  // namespace espalier::bench
