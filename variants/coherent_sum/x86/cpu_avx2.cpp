// Up to 96 times of a source in 12 registers while receivers are added (variants/coherent_sum/x86/register_tiles.hpp):
// one load for 8 additions, of a trace that is in the innermost cache.

#include <immintrin.h>

#define ESPALIER_TARGET target("avx2,fma")
#define ESPALIER_INLINE __attribute__((ESPALIER_TARGET, always_inline))

#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/x86/vector_sums.hpp"

namespace espalier::coherent_sum {
namespace {

struct Avx2 {
    using Floats = __m256;
    static constexpr int kLanes = 8, kMost = 12;

    ESPALIER_INLINE static Floats zero() { return _mm256_setzero_ps(); }
    ESPALIER_INLINE static Floats load(const float* from) { return _mm256_loadu_ps(from); }
    ESPALIER_INLINE static void store(float* to, Floats values) { _mm256_storeu_ps(to, values); }
    ESPALIER_INLINE static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
    ESPALIER_INLINE static Floats larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
};

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
            .run = register_tiles::run<VectorSums<Avx2>>};
}

}  // namespace espalier::coherent_sum
