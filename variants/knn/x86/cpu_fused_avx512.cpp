// Distances in tiles of 8 queries x 48 points that never leave the registers: they are compared with what each query
// has found so far, and only what may be among its nearest is stored (variants/knn/fused/pipeline.hpp).

#include <immintrin.h>

#include "variants/knn/fused/pipeline.hpp"
#include "variants/knn/x86/direct_squares.hpp"

#define ESPALIER_AVX512 target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")

namespace espalier::knn {
namespace {

using fused::Terms;

struct Avx512 {
    static constexpr int kQueries = 8, kPoints = 48, kStream = 128, kDirect = fused::kDirect;
    using Tile = fused::TileValues<kQueries, kPoints>;
    using Stream = fused::StreamValues<kStream>;

    template <Terms terms>
    __attribute__((ESPALIER_AVX512)) static bool tile(const fused::TileInput& in, Tile& out) {
        __m512 sums[kQueries][kVectors];
#pragma GCC unroll 8
        for (int q = 0; q < kQueries; ++q)
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v)
                sums[q][v] = terms == Terms::products ? _mm512_loadu_ps(in.starts + 16 * v) : _mm512_setzero_ps();
        const float* x = in.queries;
        const float* y = in.points;
        for (std::int64_t a = 0; a < in.dims; ++a, x += kQueries, y += kPoints) {
            const __m512 y0 = _mm512_loadu_ps(y), y1 = _mm512_loadu_ps(y + 16), y2 = _mm512_loadu_ps(y + 32);
#pragma GCC unroll 8
            for (int q = 0; q < kQueries; ++q) {
                const __m512 value = _mm512_set1_ps(x[q]);
                sums[q][0] = add<terms>(sums[q][0], value, y0);
                sums[q][1] = add<terms>(sums[q][1], value, y1);
                sums[q][2] = add<terms>(sums[q][2], value, y2);
            }
        }
        __mmask16 any = 0;
#pragma GCC unroll 8
        for (int q = 0; q < kQueries; ++q) {
            const __m512 limit = _mm512_set1_ps(in.limits[q]);
            if constexpr (terms == Terms::products) {  // no NaN among them, which a minimum may lose
                const __m512 least = least_of(least_of(sums[q][0], sums[q][1]), sums[q][2]);
                any = _kor_mask16(any, _mm512_cmp_ps_mask(least, limit, _CMP_NGE_UQ));
            } else {
#pragma GCC unroll 3
                for (int v = 0; v < kVectors; ++v)
                    any = _kor_mask16(any, _mm512_cmp_ps_mask(sums[q][v], limit, _CMP_NGE_UQ));
            }
        }
        if (_kortestz_mask16_u8(any, any)) return false;
#pragma GCC unroll 8
        for (int q = 0; q < kQueries; ++q) {
            const __m512 limit = _mm512_set1_ps(in.limits[q]);
            out.wanted[q] = 0;
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v) {
                _mm512_store_ps(out.values[q] + 16 * v, sums[q][v]);
                out.wanted[q] |= std::uint64_t{_mm512_cmp_ps_mask(sums[q][v], limit, _CMP_NGE_UQ)} << (16 * v);
            }
        }
        return true;
    }

    template <Terms terms>
    __attribute__((ESPALIER_AVX512)) static void stream(const fused::StreamInput& in, Stream& out) {
        constexpr int kGroups = kStream / 16;
        __m512 sums[kGroups];
#pragma GCC unroll 8
        for (int v = 0; v < kGroups; ++v) sums[v] = _mm512_setzero_ps();
        const float* y = in.points;
        for (std::int64_t a = 0; a < in.dims; ++a, y += in.step) {
            const __m512 value = _mm512_set1_ps(in.query[a]);
#pragma GCC unroll 8
            for (int v = 0; v < kGroups; ++v) {
                sums[v] = add<terms>(sums[v], value, _mm512_loadu_ps(y + 16 * v));
                // The next points are many attributes away: nothing else would know of them.
                _mm_prefetch(reinterpret_cast<const char*>(y + kStream + 16 * v), _MM_HINT_T0);
            }
        }
        const __m512 limit = _mm512_set1_ps(in.limit);
        for (std::uint64_t& word : out.wanted) word = 0;
#pragma GCC unroll 8
        for (int v = 0; v < kGroups; ++v) {
            _mm512_store_ps(out.values + 16 * v, sums[v]);
            out.wanted[v / 4] |= std::uint64_t{_mm512_cmp_ps_mask(sums[v], limit, _CMP_NGE_UQ)} << (v % 4 * 16);
        }
    }

    static void direct(const float* query, const float* const* points, std::int64_t step, std::int64_t dims,
                       float* sums) {
        fused::direct_squares(query, points, step, dims, sums);
    }

    __attribute__((ESPALIER_AVX512)) static std::int32_t bound(const std::int32_t* keys, std::size_t count,
                                                               std::int32_t wanted, std::int32_t enough) {
        return fused::bound_of(keys, count, wanted, enough);
    }

    template <int kWidth>
    __attribute__((ESPALIER_AVX512)) static void pack(const fused::Slice& slice, const float* centre, float scale,
                                                      float* panel) {
        fused::pack_panel<kWidth>(slice, centre, scale, panel);
    }

    template <int kWidth>
    __attribute__((ESPALIER_AVX512)) static void squares(const fused::Slice& slice, const float* centre, double* sums) {
        fused::sum_squares<kWidth>(slice, centre, sums);
    }

private:
    static constexpr int kVectors = kPoints / 16;

    template <Terms terms>
    __attribute__((ESPALIER_AVX512, always_inline)) static inline __m512 add(__m512 sum, __m512 x, __m512 y) {
        if constexpr (terms == Terms::products) return _mm512_fmadd_ps(x, y, sum);
        const __m512 difference = _mm512_sub_ps(x, y);
        if constexpr (terms == Terms::squares) return _mm512_fmadd_ps(difference, difference, sum);
        const __m512 magnitude =
            _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(difference), _mm512_set1_epi32(0x7FFFFFFF)));
        if constexpr (terms == Terms::magnitudes) return _mm512_add_ps(sum, magnitude);
        // As whole numbers they have the same order, and NaN beyond all others is kept.
        return _mm512_castsi512_ps(
            _mm512_maskz_max_epi32(kAll, _mm512_castps_si512(sum), _mm512_castps_si512(magnitude)));
    }

    /// With a mask, since GCC 12 takes the vectors of the plain intrinsics for uninitialised (GCC bug 105593).
    static constexpr __mmask16 kAll = 0xFFFF;
    __attribute__((ESPALIER_AVX512, always_inline)) static inline __m512 least_of(__m512 a, __m512 b) {
        return _mm512_maskz_min_ps(kAll, a, b);
    }
};

#undef ESPALIER_AVX512

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (!device.avx512) return Support::no("the processor has no AVX-512 (F, BW, DQ, VL)");
    return fused::supports(problem);
}

}  // namespace

Variant<Problem> cpu_fused_avx512() {
    return {.role = Role::modern,
            .summary = "distances screened in registers, 8 queries x 48 points at once, by expanded squares",
            .limits = "AVX-512 (F, BW, DQ, VL); k <= 1,024; euclidean, manhattan or chebyshev, nothing missing",
            .tolerance = kPipeline,
            .space = {},
            .supports = supports,
            .workspace = fused::workspace<Avx512>,
            .run = fused::run<Avx512>};
}

}  // namespace espalier::knn
