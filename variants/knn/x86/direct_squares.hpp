#pragma once

#include <immintrin.h>

#include <cstdint>

namespace espalier::knn::fused {

/// Distances to so many points at once.
inline constexpr int kDirect = 8;

__attribute__((target("avx2,fma"), always_inline)) inline void transpose(__m256 (&rows)[kDirect]) {
    __m256 pairs[kDirect], fours[kDirect];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
        fours[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
        fours[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xEE);
        fours[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
        fours[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xEE);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        rows[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
        rows[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
    }
}

/// Squares of distances, each a chain of multiply-adds in the order of the attributes: value a of point j is
/// points[j][a * step]. Points whose values lie side by side are read eight attributes at a time.
__attribute__((target("avx2,fma"))) inline void direct_squares(const float* query, const float* const* points,
                                                               std::int64_t step, std::int64_t dims, float* sums) {
    __m256 chains = _mm256_setzero_ps();
    std::int64_t a = 0;
    for (; step == 1 && a + 8 <= dims; a += 8) {
        __m256 values[kDirect];
#pragma GCC unroll 8
        for (int j = 0; j < kDirect; ++j) values[j] = _mm256_loadu_ps(points[j] + a);
        transpose(values);
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
            const __m256 difference = _mm256_sub_ps(_mm256_broadcast_ss(query + a + i), values[i]);
            chains = _mm256_fmadd_ps(difference, difference, chains);
        }
    }
    for (; a < dims; ++a) {
        const std::int64_t at = a * step;
        const __m256 values = _mm256_setr_ps(points[0][at], points[1][at], points[2][at], points[3][at], points[4][at],
                                             points[5][at], points[6][at], points[7][at]);
        const __m256 difference = _mm256_sub_ps(_mm256_broadcast_ss(query + a), values);
        chains = _mm256_fmadd_ps(difference, difference, chains);
    }
    _mm256_storeu_ps(sums, chains);
}

}  // namespace espalier::knn::fused
