// Up to 96 times of a source in 12 registers while receivers are added (variants/coherent_sum/x86/register_tiles.hpp):
// one load for 8 additions, of a trace that is in the innermost cache.

#include <immintrin.h>

#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/x86/register_tiles.hpp"

#define ESPALIER_AVX2 target("avx2,fma")

namespace espalier::coherent_sum {
namespace {

struct Avx2 {
    static constexpr int kLanes = 8, kMost = 12;

    template <int count>
    __attribute__((ESPALIER_AVX2)) static void add(const register_tiles::Addition& tile) {
        __m256 sums[count];
#pragma GCC unroll 12
        for (int v = 0; v < count; ++v)
            sums[v] = tile.begins ? _mm256_setzero_ps() : _mm256_loadu_ps(tile.sums + kLanes * v);
        const float* trace = tile.traces;
        for (std::int64_t r = 0; r < tile.receivers; ++r, trace += tile.trace_samples) {
            const float* const shifted = trace + tile.delays[r];
#pragma GCC unroll 12
            for (int v = 0; v < count; ++v) sums[v] = _mm256_add_ps(sums[v], _mm256_loadu_ps(shifted + kLanes * v));
        }
#pragma GCC unroll 12
        for (int v = 0; v < count; ++v) _mm256_storeu_ps(tile.sums + kLanes * v, sums[v]);
    }

    __attribute__((ESPALIER_AVX2)) static float largest(const float* values, std::int64_t count) {
        float most = values[0];
        std::int64_t i = 0;
        if (count >= kLanes) {
            __m256 all = _mm256_loadu_ps(values);
            for (; i + kLanes <= count; i += kLanes) all = _mm256_max_ps(all, _mm256_loadu_ps(values + i));
            alignas(32) float lanes[kLanes];
            _mm256_store_ps(lanes, all);
            most = *std::max_element(lanes, lanes + kLanes);
        }
        for (; i < count; ++i) most = std::max(most, values[i]);
        return most;
    }
};

#undef ESPALIER_AVX2

Support supports(const Problem&, const Configuration&, const DeviceInfo& device) {
    if (!(device.avx2 && device.fma)) return Support::no("the processor has no AVX2 and FMA");
    return Support::yes();
}

}  // namespace

Variant<Problem> cpu_avx2() {
    return {.role = Role::modern,
            .summary = "up to 96 times of a source in registers, receivers a few at a time, with AVX2",
            .source = "",
            .limits = "AVX2 and FMA",
            .tolerance = kSinglePrecision,
            .space = {{"receivers", {32, 8, 128}}, {"window", {768, 384}}},
            .supports = supports,
            .run = register_tiles::run<Avx2>};
}

}  // namespace espalier::coherent_sum
