// GCC's -fsanitize=thread calls these before every access to memory. Linked without ThreadSanitizer's own
// runtime, which knows nothing of blocks and barriers: the executor checks the accesses instead. Built
// into programs whose kernels are compiled with that option (ESPALIER_RACES) and into no others.

#include "harness/emulator/kernel_side.hpp"
#include "harness/emulator/race_detector.hpp"

namespace {

using espalier::device::host::AccessKind;

/// Always inlined: the return address must be the kernel's. One less lies within the call itself.
[[gnu::always_inline]] inline void note(const void* address, std::size_t bytes, AccessKind kind) {
    const auto next = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    espalier::device::host::memory_access(address, bytes, kind, next - 1);
}

}  // namespace

// NOLINTBEGIN: the compiler's names.
extern "C" {

void __tsan_init() { espalier::device::host::watch_accesses(); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

void __tsan_read1(const void* address) { note(address, 1, AccessKind::read); }
void __tsan_read2(const void* address) { note(address, 2, AccessKind::read); }
void __tsan_read4(const void* address) { note(address, 4, AccessKind::read); }
void __tsan_read8(const void* address) { note(address, 8, AccessKind::read); }
void __tsan_read16(const void* address) { note(address, 16, AccessKind::read); }
void __tsan_unaligned_read2(const void* address) { note(address, 2, AccessKind::read); }
void __tsan_unaligned_read4(const void* address) { note(address, 4, AccessKind::read); }
void __tsan_unaligned_read8(const void* address) { note(address, 8, AccessKind::read); }
void __tsan_unaligned_read16(const void* address) { note(address, 16, AccessKind::read); }
void __tsan_read_range(const void* address, std::size_t bytes) { note(address, bytes, AccessKind::read); }

void __tsan_write1(void* address) { note(address, 1, AccessKind::write); }
void __tsan_write2(void* address) { note(address, 2, AccessKind::write); }
void __tsan_write4(void* address) { note(address, 4, AccessKind::write); }
void __tsan_write8(void* address) { note(address, 8, AccessKind::write); }
void __tsan_write16(void* address) { note(address, 16, AccessKind::write); }
void __tsan_unaligned_write2(void* address) { note(address, 2, AccessKind::write); }
void __tsan_unaligned_write4(void* address) { note(address, 4, AccessKind::write); }
void __tsan_unaligned_write8(void* address) { note(address, 8, AccessKind::write); }
void __tsan_unaligned_write16(void* address) { note(address, 16, AccessKind::write); }
void __tsan_write_range(void* address, std::size_t bytes) { note(address, bytes, AccessKind::write); }

// CUDA's volatile accesses are atomic, though they order nothing.
void __tsan_volatile_read1(const void* address) { note(address, 1, AccessKind::atomic_read); }
void __tsan_volatile_read2(const void* address) { note(address, 2, AccessKind::atomic_read); }
void __tsan_volatile_read4(const void* address) { note(address, 4, AccessKind::atomic_read); }
void __tsan_volatile_read8(const void* address) { note(address, 8, AccessKind::atomic_read); }
void __tsan_volatile_read16(const void* address) { note(address, 16, AccessKind::atomic_read); }
void __tsan_volatile_write1(void* address) { note(address, 1, AccessKind::atomic_update); }
void __tsan_volatile_write2(void* address) { note(address, 2, AccessKind::atomic_update); }
void __tsan_volatile_write4(void* address) { note(address, 4, AccessKind::atomic_update); }
void __tsan_volatile_write8(void* address) { note(address, 8, AccessKind::atomic_update); }
void __tsan_volatile_write16(void* address) { note(address, 16, AccessKind::atomic_update); }

// Reads the guard of a static variable in a function, which is the host's business.
unsigned char __tsan_atomic8_load(const volatile unsigned char* address, int) {
    return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
}
// NOLINTEND
