#include "tests/kernels/api/failing_memory.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

// AddressSanitizer has a malloc of its own.
#if !defined(__SANITIZE_ADDRESS__) && defined(__GLIBC__)
#define ESPALIER_OWN_MALLOC 1
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}
#endif

namespace espalier::failing_memory {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

std::atomic<std::size_t> first_failing{kNever}, count{0};
std::atomic<bool> all_after{false}, has_struck{false};
std::atomic<std::ptrdiff_t> live{0};

/// Counts an allocation, and whether it fails.
bool fails() {
    const std::size_t first = first_failing.load(std::memory_order_relaxed);
    if (first == kNever) return false;
    const std::size_t number = count.fetch_add(1);
    if (all_after ? number < first : number != first) return false;
    has_struck = true;
    return true;
}

void* raw(std::size_t bytes) {
#if defined(ESPALIER_OWN_MALLOC)
    return __libc_malloc(bytes);
#else
    return std::malloc(bytes);
#endif
}

void* raw_aligned(std::size_t bytes, std::size_t alignment) {
#if defined(ESPALIER_OWN_MALLOC)
    return __libc_memalign(alignment, bytes);
#else
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
#endif
}

void* counted(void* block) {
    if (block) ++live;
    return block;
}

}  // namespace

void* allocate(std::size_t bytes) { return fails() ? nullptr : counted(raw(bytes ? bytes : 1)); }
void* allocate(std::size_t bytes, std::align_val_t alignment) {
    return fails() ? nullptr : counted(raw_aligned(bytes ? bytes : 1, static_cast<std::size_t>(alignment)));
}
void give_back(void* block) {
    if (block) --live;
    std::free(block);
}

Shortage::Shortage(std::size_t first, Failing failing) {
    count = 0;
    has_struck = false;
    all_after = failing == Failing::all;
    first_failing = first;
}
Shortage::~Shortage() { first_failing = kNever; }

bool struck() { return has_struck; }
std::ptrdiff_t live_blocks() { return live; }

}  // namespace espalier::failing_memory

namespace memory = espalier::failing_memory;

// Not inlined: compilers would pair a free() in one with a new that they know.
#define NOINLINE [[gnu::noinline]]

NOINLINE void* operator new(std::size_t bytes) {
    if (void* block = memory::allocate(bytes)) return block;
    throw std::bad_alloc();
}
NOINLINE void* operator new(std::size_t bytes, std::align_val_t alignment) {
    if (void* block = memory::allocate(bytes, alignment)) return block;
    throw std::bad_alloc();
}
NOINLINE void* operator new[](std::size_t bytes) { return operator new(bytes); }
NOINLINE void* operator new[](std::size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }
NOINLINE void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return memory::allocate(bytes); }
NOINLINE void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return memory::allocate(bytes); }
NOINLINE void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return memory::allocate(bytes, alignment);
}
NOINLINE void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return memory::allocate(bytes, alignment);
}
NOINLINE void operator delete(void* block) noexcept { memory::give_back(block); }
NOINLINE void operator delete[](void* block) noexcept { memory::give_back(block); }
NOINLINE void operator delete(void* block, std::size_t) noexcept { memory::give_back(block); }
NOINLINE void operator delete[](void* block, std::size_t) noexcept { memory::give_back(block); }
NOINLINE void operator delete(void* block, std::align_val_t) noexcept { memory::give_back(block); }
NOINLINE void operator delete[](void* block, std::align_val_t) noexcept { memory::give_back(block); }
NOINLINE void operator delete(void* block, std::size_t, std::align_val_t) noexcept { memory::give_back(block); }
NOINLINE void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { memory::give_back(block); }
NOINLINE void operator delete(void* block, const std::nothrow_t&) noexcept { memory::give_back(block); }
NOINLINE void operator delete[](void* block, const std::nothrow_t&) noexcept { memory::give_back(block); }
NOINLINE void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
    memory::give_back(block);
}
NOINLINE void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
    memory::give_back(block);
}

#if defined(ESPALIER_OWN_MALLOC)

namespace {

/// Whether an allocation of the C library's fails for its caller: files and folders that are opened, exceptions that
/// are thrown. GNU's OpenMP exits where it gets no memory, and the loader of libraries does as it likes.
bool fails_for(const void* caller) {
    if (espalier::failing_memory::first_failing.load(std::memory_order_relaxed) == espalier::failing_memory::kNever)
        return false;
    Dl_info info{};
    if (dladdr(caller, &info) == 0 || !info.dli_fname) return espalier::failing_memory::fails();
    if (std::strstr(info.dli_fname, "libgomp") || std::strstr(info.dli_fname, "ld-linux")) return false;
    return espalier::failing_memory::fails();
}

void* refused() {
    errno = ENOMEM;
    return nullptr;
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {
void* malloc(std::size_t bytes) { return fails_for(CALLER) ? refused() : __libc_malloc(bytes); }
void* calloc(std::size_t number, std::size_t bytes) {
    return fails_for(CALLER) ? refused() : __libc_calloc(number, bytes);
}
void* realloc(void* block, std::size_t bytes) { return fails_for(CALLER) ? refused() : __libc_realloc(block, bytes); }
void* memalign(std::size_t alignment, std::size_t bytes) {
    return fails_for(CALLER) ? refused() : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return fails_for(CALLER) ? refused() : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
    if (fails_for(CALLER)) return ENOMEM;
    *block = __libc_memalign(alignment, bytes);
    return *block ? 0 : ENOMEM;
}
}

#endif
