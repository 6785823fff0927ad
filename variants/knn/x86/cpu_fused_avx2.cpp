// Distances in tiles of 4 queries x 24 points that never leave the registers: they are compared with what each query
// has found so far, and only what may be among its nearest is stored (variants/knn/fused/pipeline.hpp).

#include <immintrin.h>

#include "variants/knn/fused/pipeline.hpp"
#include "variants/knn/x86/direct_squares.hpp"

namespace espalier::knn {
namespace {

using fused::Terms;

struct Avx2 {
    static constexpr int kQueries = 4, kPoints = 24, kStream = 64, kDirect = fused::kDirect;
    using Tile = fused::TileValues<kQueries, kPoints>;
    using Stream = fused::StreamValues<kStream>;

    template <Terms terms>
    __attribute__((target("avx2,fma"))) static bool tile(const fused::TileInput& in, Tile& out) {
        __m256 sums[kQueries][kVectors];
#pragma GCC unroll 4
        for (int q = 0; q < kQueries; ++q)
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v)
                sums[q][v] = terms == Terms::products ? _mm256_loadu_ps(in.starts + 8 * v) : _mm256_setzero_ps();
        const float* x = in.queries;
        const float* y = in.points;
        for (std::int64_t a = 0; a < in.dims; ++a, x += kQueries, y += kPoints) {
            const __m256 y0 = _mm256_loadu_ps(y), y1 = _mm256_loadu_ps(y + 8), y2 = _mm256_loadu_ps(y + 16);
#pragma GCC unroll 4
            for (int q = 0; q < kQueries; ++q) {
                const __m256 value = _mm256_broadcast_ss(x + q);
                sums[q][0] = add<terms>(sums[q][0], value, y0);
                sums[q][1] = add<terms>(sums[q][1], value, y1);
                sums[q][2] = add<terms>(sums[q][2], value, y2);
            }
        }
        __m256 any = _mm256_setzero_ps();
#pragma GCC unroll 4
        for (int q = 0; q < kQueries; ++q) {
            const __m256 limit = _mm256_broadcast_ss(in.limits + q);
            if constexpr (terms == Terms::products) {  // no NaN among them, which a minimum may lose
                const __m256 least = _mm256_min_ps(_mm256_min_ps(sums[q][0], sums[q][1]), sums[q][2]);
                any = _mm256_or_ps(any, wanted(least, limit));
            } else {
#pragma GCC unroll 3
                for (int v = 0; v < kVectors; ++v) any = _mm256_or_ps(any, wanted(sums[q][v], limit));
            }
        }
        if (_mm256_testz_ps(any, any)) return false;
#pragma GCC unroll 4
        for (int q = 0; q < kQueries; ++q) {
            const __m256 limit = _mm256_broadcast_ss(in.limits + q);
            out.wanted[q] = 0;
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v) {
                _mm256_store_ps(out.values[q] + 8 * v, sums[q][v]);
                out.wanted[q] |= bits(wanted(sums[q][v], limit)) << (8 * v);
            }
        }
        return true;
    }

    template <Terms terms>
    __attribute__((target("avx2,fma"))) static void stream(const fused::StreamInput& in, Stream& out) {
        constexpr int kGroups = kStream / 8;
        __m256 sums[kGroups];
#pragma GCC unroll 8
        for (int v = 0; v < kGroups; ++v) sums[v] = _mm256_setzero_ps();
        const float* y = in.points;
        for (std::int64_t a = 0; a < in.dims; ++a, y += in.step) {
            const __m256 value = _mm256_broadcast_ss(in.query + a);
#pragma GCC unroll 8
            for (int v = 0; v < kGroups; ++v) {
                sums[v] = add<terms>(sums[v], value, _mm256_loadu_ps(y + 8 * v));
                // The next points are many attributes away: nothing else would know of them.
                if (v % 2 == 0) _mm_prefetch(reinterpret_cast<const char*>(y + kStream + 8 * v), _MM_HINT_T0);
            }
        }
        const __m256 limit = _mm256_set1_ps(in.limit);
        for (std::uint64_t& word : out.wanted) word = 0;
#pragma GCC unroll 8
        for (int v = 0; v < kGroups; ++v) {
            _mm256_store_ps(out.values + 8 * v, sums[v]);
            out.wanted[v / 8] |= bits(wanted(sums[v], limit)) << (v % 8 * 8);
        }
    }

    static void direct(const float* query, const float* const* points, std::int64_t step, std::int64_t dims,
                       float* sums) {
        fused::direct_squares(query, points, step, dims, sums);
    }

    __attribute__((target("avx2,fma"))) static std::int32_t bound(const std::int32_t* keys, std::size_t count,
                                                                  std::int32_t wanted, std::int32_t enough) {
        return fused::bound_of(keys, count, wanted, enough);
    }

    template <int kWidth>
    __attribute__((target("avx2,fma"))) static void pack(const fused::Slice& slice, const float* centre, float scale,
                                                         float* panel) {
        fused::pack_panel<kWidth>(slice, centre, scale, panel);
    }

    template <int kWidth>
    __attribute__((target("avx2,fma"))) static void squares(const fused::Slice& slice, const float* centre,
                                                            double* sums) {
        fused::sum_squares<kWidth>(slice, centre, sums);
    }

private:
    static constexpr int kVectors = kPoints / 8;

    template <Terms terms>
    __attribute__((target("avx2,fma"), always_inline)) static inline __m256 add(__m256 sum, __m256 x, __m256 y) {
        if constexpr (terms == Terms::products) return _mm256_fmadd_ps(x, y, sum);
        const __m256 difference = _mm256_sub_ps(x, y);
        if constexpr (terms == Terms::squares) return _mm256_fmadd_ps(difference, difference, sum);
        const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), difference);
        if constexpr (terms == Terms::magnitudes) return _mm256_add_ps(sum, magnitude);
        // As whole numbers they have the same order, and NaN beyond all others is kept.
        return _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(sum), _mm256_castps_si256(magnitude)));
    }

    __attribute__((target("avx2,fma"), always_inline)) static inline __m256 wanted(__m256 values, __m256 limit) {
        return _mm256_cmp_ps(values, limit, _CMP_NGE_UQ);
    }
    __attribute__((target("avx2,fma"), always_inline)) static inline std::uint64_t bits(__m256 mask) {
        return static_cast<std::uint32_t>(_mm256_movemask_ps(mask));
    }
};

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (!(device.avx2 && device.fma)) return Support::no("the processor has no AVX2 and FMA");
    return fused::supports(problem);
}

}  // namespace

Variant<Problem> cpu_fused_avx2() {
    return {.role = Role::modern,
            .summary = "distances screened in registers, 4 queries x 24 points at once, by expanded squares",
            .limits = "AVX2 and FMA; k <= 1,024; euclidean, manhattan or chebyshev, nothing missing",
            .tolerance = kPipeline,
            .space = {},
            .supports = supports,
            .workspace = fused::workspace<Avx2>,
            .run = fused::run<Avx2>};
}

}  // namespace espalier::knn
