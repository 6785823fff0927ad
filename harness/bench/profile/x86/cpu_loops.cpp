#include "harness/bench/profile/cpu_loops.hpp"

#include <immintrin.h>

#include "harness/bench/profile/portable_loops.hpp"

namespace espalier::bench {
namespace {

// Reads with the widest loads there are; eight accumulators cover the latency of the additions.
__attribute__((target("avx512f"))) void read_avx512(const std::byte* from, std::size_t bytes) {
    __m512i sums[8] = {};
    for (std::size_t i = 0; i + 512 <= bytes; i += 512)
        for (std::size_t k = 0; k < 8; ++k) sums[k] = _mm512_xor_si512(sums[k], _mm512_loadu_si512(from + i + 64 * k));
    keep(sums);
}
__attribute__((target("avx2"))) void read_avx2(const std::byte* from, std::size_t bytes) {
    __m256i sums[8] = {};
    for (std::size_t i = 0; i + 256 <= bytes; i += 256)
        for (std::size_t k = 0; k < 8; ++k)
            sums[k] =
                _mm256_xor_si256(sums[k], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + 32 * k)));
    keep(sums);
}

__attribute__((target("avx512f"))) double multiply_add_avx512() {
    __m512 chains[kChains];
    for (int c = 0; c < kChains; ++c) chains[c] = _mm512_set1_ps(static_cast<float>(c));
    const __m512 factor = _mm512_set1_ps(0.999F), one = _mm512_set1_ps(1);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm512_fmadd_ps(chain, factor, one);
    keep(chains);
    return 2.0 * 16 * kChains * kSteps;
}
__attribute__((target("avx2,fma"))) double multiply_add_avx2() {
    __m256 chains[kChains];
    for (int c = 0; c < kChains; ++c) chains[c] = _mm256_set1_ps(static_cast<float>(c));
    const __m256 factor = _mm256_set1_ps(0.999F), one = _mm256_set1_ps(1);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm256_fmadd_ps(chain, factor, one);
    keep(chains);
    return 2.0 * 8 * kChains * kSteps;
}

// Products of bytes summed in fours where there is VNNI, of 16-bit values summed in pairs elsewhere.
__attribute__((target("avx512f,avx512vnni"))) double dot_vnni() {
    __m512i chains[kChains] = {};
    const __m512i a = _mm512_set1_epi32(0x01020304), b = _mm512_set1_epi32(0x04030201);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm512_dpbusd_epi32(chain, a, b);
    keep(chains);
    return 2.0 * 64 * kChains * kSteps;
}
__attribute__((target("avx512f,avx512bw"))) double dot_avx512() {
    __m512i chains[kChains] = {};
    const __m512i b = _mm512_set1_epi32(0x00020003);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm512_add_epi32(chain, _mm512_madd_epi16(chain, b));
    keep(chains);
    return 2.0 * 32 * kChains * kSteps;
}
__attribute__((target("avx2"))) double dot_avx2() {
    __m256i chains[kChains] = {};
    const __m256i b = _mm256_set1_epi32(0x00020003);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm256_add_epi32(chain, _mm256_madd_epi16(chain, b));
    keep(chains);
    return 2.0 * 16 * kChains * kSteps;
}
double dot_sse2() {
    __m128i chains[kChains] = {};
    const __m128i b = _mm_set1_epi32(0x00020003);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm_add_epi32(chain, _mm_madd_epi16(chain, b));
    keep(chains);
    return 2.0 * 8 * kChains * kSteps;
}

}  // namespace

CpuLoops cpu_loops(const DeviceInfo& device) {
    if (device.avx512_vnni) return {read_avx512, multiply_add_avx512, dot_vnni};
    if (device.avx512) return {read_avx512, multiply_add_avx512, dot_avx512};
    if (device.avx2 && device.fma) return {read_avx2, multiply_add_avx2, dot_avx2};
    return {read_portable, multiply_add_portable, dot_sse2};
}

}  // namespace espalier::bench
