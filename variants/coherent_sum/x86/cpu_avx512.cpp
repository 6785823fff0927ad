// Up to 384 times of a source in 24 registers while receivers are added (variants/coherent_sum/x86/register_tiles.hpp):
// one load for 16 additions, of a trace that is in the innermost cache.

#include <immintrin.h>

#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/x86/register_tiles.hpp"

#define ESPALIER_AVX512 target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")

namespace espalier::coherent_sum {
namespace {

struct Avx512 {
    static constexpr int kLanes = 16, kMost = 24;

    template <int count>
    __attribute__((ESPALIER_AVX512)) static void add(const register_tiles::Addition& tile) {
        __m512 sums[count];
#pragma GCC unroll 24
        for (int v = 0; v < count; ++v)
            sums[v] = tile.begins ? _mm512_setzero_ps() : _mm512_loadu_ps(tile.sums + kLanes * v);
        const float* trace = tile.traces;
        for (std::int64_t r = 0; r < tile.receivers; ++r, trace += tile.trace_samples) {
            const float* const shifted = trace + tile.delays[r];
#pragma GCC unroll 24
            for (int v = 0; v < count; ++v) sums[v] = _mm512_add_ps(sums[v], _mm512_loadu_ps(shifted + kLanes * v));
        }
#pragma GCC unroll 24
        for (int v = 0; v < count; ++v) _mm512_storeu_ps(tile.sums + kLanes * v, sums[v]);
    }

    __attribute__((ESPALIER_AVX512)) static float largest(const float* values, std::int64_t count) {
        float most = values[0];
        std::int64_t i = 0;
        if (count >= kLanes) {
            __m512 all = _mm512_loadu_ps(values);
            // With a mask, since GCC 12 takes the vectors of the plain intrinsic for uninitialised (GCC bug 105593).
            for (; i + kLanes <= count; i += kLanes)
                all = _mm512_maskz_max_ps(0xFFFF, all, _mm512_loadu_ps(values + i));
            alignas(64) float lanes[kLanes];
            _mm512_store_ps(lanes, all);
            most = *std::max_element(lanes, lanes + kLanes);
        }
        for (; i < count; ++i) most = std::max(most, values[i]);
        return most;
    }
};

#undef ESPALIER_AVX512

Support supports(const Problem&, const Configuration&, const DeviceInfo& device) {
    if (!device.avx512) return Support::no("the processor has no AVX-512 (F, BW, DQ, VL)");
    return Support::yes();
}

}  // namespace

Variant<Problem> cpu_avx512() {
    return {.role = Role::modern,
            .summary = "up to 384 times of a source in registers, receivers a few at a time, with AVX-512",
            .source = "",
            .limits = "AVX-512 (F, BW, DQ, VL)",
            .tolerance = kSinglePrecision,
            .space = {{"receivers", {32, 8, 128}}, {"window", {768, 384}}},
            .supports = supports,
            .run = register_tiles::run<Avx512>};
}

}  // namespace espalier::coherent_sum
