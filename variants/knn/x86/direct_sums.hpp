#pragma once

#include <immintrin.h>

#include <cstdint>

#include "variants/knn/fused/terms.hpp"
#include "variants/transpose_8x8.hpp"

namespace espalier::knn::fused {

/// Distances to so many points at once.
inline constexpr int kDirect = 8;

/// `dots` or `squares`, a multiply-add of eight points.
template <Terms terms>
__attribute__((target("avx2,fma"), always_inline)) inline __m256 add_direct(__m256 sums, const float* x, __m256 y) {
    const __m256 value = _mm256_broadcast_ss(x);
    if constexpr (terms == Terms::dots) return _mm256_fmadd_ps(value, y, sums);
    const __m256 difference = _mm256_sub_ps(value, y);
    return _mm256_fmadd_ps(difference, difference, sums);
}

/// Sums of eight points, each a chain of multiply-adds in the order of the attributes: value a of point j is
/// points[j][a * step]. Points whose values lie side by side are read eight attributes at a time.
template <Terms terms>
__attribute__((target("avx2,fma"))) void direct_sums(const float* query, const float* const* points, std::int64_t step,
                                                     std::int64_t dims, float* sums) {
    __m256 chains = _mm256_setzero_ps();
    std::int64_t a = 0;
    for (; step == 1 && a + 8 <= dims; a += 8) {
        __m256 values[kDirect];
#pragma GCC unroll 8
        for (int j = 0; j < kDirect; ++j) values[j] = _mm256_loadu_ps(points[j] + a);
        transpose_8x8(values);
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) chains = add_direct<terms>(chains, query + a + i, values[i]);
    }
    for (; a < dims; ++a) {
        const std::int64_t at = a * step;
        const __m256 values = _mm256_setr_ps(points[0][at], points[1][at], points[2][at], points[3][at], points[4][at],
                                             points[5][at], points[6][at], points[7][at]);
        chains = add_direct<terms>(chains, query + a, values);
    }
    _mm256_storeu_ps(sums, chains);
}

}  // namespace espalier::knn::fused
