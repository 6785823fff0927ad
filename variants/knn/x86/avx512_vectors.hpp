#pragma once

#include <immintrin.h>

#include <cstdint>

#include "variants/prefer_512.hpp"

#define ESPALIER_TARGET target("avx512f,avx512bw,avx512dq,avx512vl,fma" ESPALIER_PREFER_512)
#define ESPALIER_INLINE __attribute__((ESPALIER_TARGET, always_inline))

#include "variants/knn/x86/vector_tiles.hpp"

namespace espalier::knn {
namespace {

/// The vectors of `VectorTiles` with AVX-512.
struct Avx512 {
    using Floats = __m512;
    using Wanted = __mmask16;
    static constexpr int kLanes = 16, kQueries = 8, kAttributes = 8;
    /// A mask, here as where halves are taken, since GCC 12 takes the vectors of plain intrinsics for uninitialised
    /// (GCC bug 105593).
    static constexpr __mmask16 kAll = 0xFFFF;

    ESPALIER_INLINE static Floats zero() { return _mm512_setzero_ps(); }
    ESPALIER_INLINE static Floats all(float value) { return _mm512_set1_ps(value); }
    ESPALIER_INLINE static Floats all(const float* value) { return _mm512_set1_ps(*value); }
    ESPALIER_INLINE static Floats load(const float* from) { return _mm512_loadu_ps(from); }
    ESPALIER_INLINE static void store(float* to, Floats values) { _mm512_storeu_ps(to, values); }
    ESPALIER_INLINE static Floats least_of(Floats a, Floats b) { return _mm512_maskz_min_ps(kAll, a, b); }

    template <Terms terms>
    ESPALIER_INLINE static Floats add(Floats sum, Floats x, Floats y) {
        if constexpr (terms == Terms::products || terms == Terms::dots) return _mm512_fmadd_ps(x, y, sum);
        const __m512 difference = _mm512_sub_ps(x, y);
        if constexpr (terms == Terms::squares) return _mm512_fmadd_ps(difference, difference, sum);
        const __m512 magnitude =
            _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(difference), _mm512_set1_epi32(0x7FFFFFFF)));
        if constexpr (terms == Terms::magnitudes) return _mm512_add_ps(sum, magnitude);
        // As whole numbers they have the same order, and NaN beyond all others is kept.
        return _mm512_castsi512_ps(
            _mm512_maskz_max_epi32(kAll, _mm512_castps_si512(sum), _mm512_castps_si512(magnitude)));
    }

    struct Doubles {
        __m512d low, high;
    };
    ESPALIER_INLINE static Doubles load(const double* from) {
        return {_mm512_loadu_pd(from), _mm512_loadu_pd(from + kLanes / 2)};
    }
    ESPALIER_INLINE static void store(double* to, Doubles values) {
        _mm512_storeu_pd(to, values.low);
        _mm512_storeu_pd(to + kLanes / 2, values.high);
    }
    ESPALIER_INLINE static Doubles add_square(Doubles sum, Floats values) {
        const __m512d low = _mm512_maskz_cvtps_pd(0xFF, _mm512_maskz_extractf32x8_ps(0xFF, values, 0));
        const __m512d high = _mm512_maskz_cvtps_pd(0xFF, _mm512_maskz_extractf32x8_ps(0xFF, values, 1));
        return {_mm512_fmadd_pd(low, low, sum.low), _mm512_fmadd_pd(high, high, sum.high)};
    }

    ESPALIER_INLINE static Wanted none() { return 0; }
    ESPALIER_INLINE static Wanted wanted(Floats values, Floats limit) {
        return _mm512_cmp_ps_mask(values, limit, _CMP_NGE_UQ);
    }
    ESPALIER_INLINE static Wanted either(Wanted a, Wanted b) { return _kor_mask16(a, b); }
    ESPALIER_INLINE static bool is_none(Wanted set) { return _kortestz_mask16_u8(set, set); }
    ESPALIER_INLINE static std::uint64_t bits(Wanted set) { return set; }
};

}  // namespace
}  // namespace espalier::knn
