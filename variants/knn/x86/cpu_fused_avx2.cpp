// Distances in tiles of 4 queries x 24 points that never leave the registers: they are compared with what each query
// has found so far, and only what may be among its nearest is stored (variants/knn/fused/pipeline.hpp).

#include <immintrin.h>

#define ESPALIER_TARGET target("avx2,fma")
#define ESPALIER_INLINE __attribute__((ESPALIER_TARGET, always_inline))

#include "variants/knn/x86/vector_tiles.hpp"

namespace espalier::knn {
namespace {

struct Avx2 {
    using Floats = __m256;
    using Wanted = __m256;
    static constexpr int kLanes = 8, kQueries = 4, kAttributes = 4;

    ESPALIER_INLINE static Floats zero() { return _mm256_setzero_ps(); }
    ESPALIER_INLINE static Floats all(float value) { return _mm256_set1_ps(value); }
    ESPALIER_INLINE static Floats all(const float* value) { return _mm256_broadcast_ss(value); }
    ESPALIER_INLINE static Floats load(const float* from) { return _mm256_loadu_ps(from); }
    ESPALIER_INLINE static void store(float* to, Floats values) { _mm256_storeu_ps(to, values); }
    ESPALIER_INLINE static Floats least_of(Floats a, Floats b) { return _mm256_min_ps(a, b); }

    template <Terms terms>
    ESPALIER_INLINE static Floats add(Floats sum, Floats x, Floats y) {
        if constexpr (terms == Terms::products || terms == Terms::dots) return _mm256_fmadd_ps(x, y, sum);
        const __m256 difference = _mm256_sub_ps(x, y);
        if constexpr (terms == Terms::squares) return _mm256_fmadd_ps(difference, difference, sum);
        const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), difference);
        if constexpr (terms == Terms::magnitudes) return _mm256_add_ps(sum, magnitude);
        // As whole numbers they have the same order, and NaN beyond all others is kept.
        return _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(sum), _mm256_castps_si256(magnitude)));
    }

    struct Doubles {
        __m256d low, high;
    };
    ESPALIER_INLINE static Doubles load(const double* from) {
        return {_mm256_loadu_pd(from), _mm256_loadu_pd(from + kLanes / 2)};
    }
    ESPALIER_INLINE static void store(double* to, Doubles values) {
        _mm256_storeu_pd(to, values.low);
        _mm256_storeu_pd(to + kLanes / 2, values.high);
    }
    ESPALIER_INLINE static Doubles add_square(Doubles sum, Floats values) {
        const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(values));
        const __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(values, 1));
        return {_mm256_fmadd_pd(low, low, sum.low), _mm256_fmadd_pd(high, high, sum.high)};
    }

    ESPALIER_INLINE static Wanted none() { return _mm256_setzero_ps(); }
    ESPALIER_INLINE static Wanted wanted(Floats values, Floats limit) {
        return _mm256_cmp_ps(values, limit, _CMP_NGE_UQ);
    }
    ESPALIER_INLINE static Wanted either(Wanted a, Wanted b) { return _mm256_or_ps(a, b); }
    ESPALIER_INLINE static bool is_none(Wanted set) { return _mm256_testz_ps(set, set); }
    ESPALIER_INLINE static std::uint64_t bits(Wanted set) {
        return static_cast<std::uint32_t>(_mm256_movemask_ps(set));
    }
};

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (!(device.avx2 && device.fma)) return Support::no("the processor has no AVX2 and FMA");
    return fused::supports(problem);
}

}  // namespace

Variant<Problem> cpu_fused_avx2() {
    return {
        .role = Role::modern,
        .summary = "distances screened in registers, 4 queries x 24 points at once, by expanded squares",
        .limits = "AVX2 and FMA; k <= 1,024; no nominal attributes, nothing missing",
        .tolerance = kPipeline,
        .space = {},
        .supports = supports,
        .workspace = fused::workspace<VectorTiles<Avx2>>,
        .run =
            fused::run_in_cells<VectorTiles<Avx2>, fused::run<VectorTiles<Avx2>>, fused::workspace<VectorTiles<Avx2>>>};
}

}  // namespace espalier::knn
