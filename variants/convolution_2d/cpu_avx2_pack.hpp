#pragma once

#include <immintrin.h>

#include <cstdint>

namespace espalier::convolution_2d {

/// Eight sums as bytes: saturated first (a conversion of something larger than an int gives the smallest
/// one), then rounded to even by the conversion. Not-a-number becomes 0.
__attribute__((target("avx2"))) inline void store_saturated(std::uint8_t* to, __m256 sum) {
    sum = _mm256_min_ps(_mm256_max_ps(sum, _mm256_setzero_ps()), _mm256_set1_ps(255.0F));
    const __m256i whole = _mm256_cvtps_epi32(sum);
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(words, words));
}

}  // namespace espalier::convolution_2d
