#pragma once

// Copies of many bytes to shared memory that the copy engine makes, and counting their arrival, for nvcc (compute
// capability 9.0 and up; before it these functions do nothing, and no variant may count on them). The twin of this
// header in harness/emulator/ copies at once.

#include <cstdint>

namespace espalier::device {

/// In shared memory: counts, round after round, threads that say how many bytes they copy, and bytes that are there.
struct alignas(8) Arrivals {
    std::uint64_t state;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define ESPALIER_BULK_COPY(...) asm volatile(__VA_ARGS__)
#else
#define ESPALIER_BULK_COPY(...)
#endif

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// A round is over when so many threads called `expect` and their bytes are there. By one thread, before a barrier.
__device__ __forceinline__ void begin_rounds(Arrivals& arrivals, int threads) {
    ESPALIER_BULK_COPY("mbarrier.init.shared::cta.b64 [%0], %1;"
                       :
                       : "r"(shared_address(&arrivals)), "r"(threads)
                       : "memory");
    ESPALIER_BULK_COPY("fence.mbarrier_init.release.cluster;" : : : "memory");
}

/// Reads and writes until now stay before the copies that this thread starts from here on.
__device__ __forceinline__ void before_bulk_copies() {
    ESPALIER_BULK_COPY("fence.proxy.async.shared::cta;" : : : "memory");
}

/// Once a round, of each thread that it counts, with the bytes of all copies that the thread answers for.
__device__ __forceinline__ void expect(Arrivals& arrivals, int bytes) {
    ESPALIER_BULK_COPY("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                       :
                       : "r"(shared_address(&arrivals)), "r"(bytes)
                       : "memory");
}

/// Both addresses and the number of bytes are multiples of 16.
__device__ __forceinline__ void copy_bulk(void* to, const void* from, int bytes, Arrivals& arrivals) {
    ESPALIER_BULK_COPY("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                       :
                       : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(&arrivals))
                       : "memory");
}

/// Waits for the end of a round, the first being 0. A thread waits for each in turn.
__device__ __forceinline__ void wait_for_round(Arrivals& arrivals, int round) {
    ESPALIER_BULK_COPY(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}"
        :
        : "r"(shared_address(&arrivals)), "r"(round % 2)
        : "memory");
}

#undef ESPALIER_BULK_COPY

}  // namespace espalier::device
