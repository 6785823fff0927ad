// 8 products per instruction, fused multiply-adds into eight registers of sums, enough to hide their latency.
// The sums are in single precision, but added up in double precision before their chains get long.
// 16 with AVX-512 were no faster where measured: two loads per product are the limit even in the first-level
// cache, and memory beyond it.

#include <immintrin.h>

#include <algorithm>

#include "variants/dot/cpu_threads.hpp"

namespace espalier::dot {
namespace {

constexpr int kLanes = 8;
constexpr int kSums = 8;
constexpr std::int64_t kStep = kLanes * kSums;

/// The lanes' total. The registers are added pairwise: three additions more in each chain.
__attribute__((target("avx2,fma"))) double total(__m256 (&sums)[kSums]) {
    for (int half = kSums / 2; half > 0; half /= 2)
        for (int s = 0; s < half; ++s) sums[s] = _mm256_add_ps(sums[s], sums[s + half]);
    alignas(32) float lanes[kLanes];
    _mm256_store_ps(lanes, sums[0]);
    double sum = 0;
    for (const float lane : lanes) sum += static_cast<double>(lane);
    return sum;
}

__attribute__((target("avx2,fma"))) double sum_of_products(const float* a, const float* b, std::int64_t elements) {
    constexpr std::int64_t kLinks = kChain - 8;
    double sum = 0;
    std::int64_t i = 0;
    while (elements - i >= kStep) {
        __m256 sums[kSums];
#pragma GCC unroll 8
        for (auto& s : sums) s = _mm256_setzero_ps();
        const std::int64_t end = i + std::min(kLinks, (elements - i) / kStep) * kStep;
        for (; i < end; i += kStep)
#pragma GCC unroll 8
            for (int s = 0; s < kSums; ++s)
                sums[s] =
                    _mm256_fmadd_ps(_mm256_loadu_ps(a + i + s * kLanes), _mm256_loadu_ps(b + i + s * kLanes), sums[s]);
        sum += total(sums);
    }
    for (; i < elements; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
}

Support supports(const Problem&, const Configuration& configuration, const DeviceInfo& device) {
    if (!device.avx2 || !device.fma) return Support::no("needs a processor with AVX2 and FMA");
    return supports_parallel(configuration, device);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    sum_shares(problem, buffers, configuration["parallel"] ? context.device.threads : 1, sum_of_products);
}

}  // namespace

Variant<Problem> cpu_avx2() {
    return {.role = Role::modern,
            .summary = "8 fused multiply-adds per instruction into eight registers",
            .limits = "AVX2 and FMA",
            .tolerance = kShortChains,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::dot
