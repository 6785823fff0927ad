#pragma once

// Copies to shared memory that a block makes and waits for together, for nvcc: by the copy engine from compute
// capability 9.0 on, by all threads on 8.x. The twin of this header in harness/emulator/ copies at once.

#include "device/bulk_copy.hpp"
#include "device/copy_ahead.hpp"

namespace espalier::device {

/// For each place that is copied to, by one thread, before a barrier.
__device__ __forceinline__ void begin_block_copies(Arrivals& arrivals) { begin_rounds(arrivals, 1); }

/// By all threads, after a barrier behind which nobody reads what is overwritten. Both addresses and the number of
/// bytes are multiples of 16.
__device__ __forceinline__ void copy_block(void* to, const void* from, int bytes, Arrivals& arrivals, unsigned thread,
                                           unsigned threads) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (thread != 0) return;
    before_bulk_copies();
    expect(arrivals, bytes);
    copy_bulk(to, from, bytes, arrivals);
#else
    for (unsigned at = thread * 16; at < static_cast<unsigned>(bytes); at += threads * 16)
        copy_ahead(static_cast<char*>(to) + at, static_cast<const char*>(from) + at);
#endif
}

/// Waits for the copy of this number to this place, the first being 0; by all threads, and a barrier must follow.
__device__ __forceinline__ void wait_for_block_copy(Arrivals& arrivals, int number) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    wait_for_round(arrivals, number);
#else
    wait_for_copies();
#endif
}

}  // namespace espalier::device
