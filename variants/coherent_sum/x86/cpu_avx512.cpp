// Up to 384 times of a source in 24 registers while receivers are added (variants/coherent_sum/x86/register_tiles.hpp):
// one load for 16 additions, of a trace that is in the innermost cache.

#include <immintrin.h>

#include "variants/prefer_512.hpp"

#define ESPALIER_TARGET target("avx512f,avx512bw,avx512dq,avx512vl,fma" ESPALIER_PREFER_512)
#define ESPALIER_INLINE __attribute__((ESPALIER_TARGET, always_inline))

#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/x86/vector_sums.hpp"

namespace espalier::coherent_sum {
namespace {

struct Avx512 {
    using Floats = __m512;
    static constexpr int kLanes = 16, kMost = 24;

    ESPALIER_INLINE static Floats zero() { return _mm512_setzero_ps(); }
    ESPALIER_INLINE static Floats load(const float* from) { return _mm512_loadu_ps(from); }
    ESPALIER_INLINE static void store(float* to, Floats values) { _mm512_storeu_ps(to, values); }
    ESPALIER_INLINE static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
    /// With a mask, since GCC 12 takes the vectors of the plain intrinsic for uninitialised (GCC bug 105593).
    ESPALIER_INLINE static Floats larger(Floats a, Floats b) { return _mm512_maskz_max_ps(0xFFFF, a, b); }
};

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
            .run = register_tiles::run<VectorSums<Avx512>>};
}

}  // namespace espalier::coherent_sum
