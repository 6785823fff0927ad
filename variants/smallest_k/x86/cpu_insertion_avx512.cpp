// register_insertion on the CPU with AVX-512: 16 neighbouring rows, a lane each, have their sorted lists in vectors.

#include <immintrin.h>

#include "variants/prefer_512.hpp"

#define ESPALIER_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl" ESPALIER_PREFER_512)))

#include "variants/smallest_k/x86/lane_insertion.hpp"

namespace espalier::smallest_k {
namespace {

struct Avx512Lanes {
    using Floats = __m512;
    using Ints = __m512i;
    using Lanes = __mmask16;
    static constexpr std::int64_t kLanes = 16;

    ESPALIER_TARGET static Floats load(const float* from) { return _mm512_loadu_ps(from); }
    ESPALIER_TARGET static Ints load(const std::int32_t* from) { return _mm512_load_si512(from); }
    ESPALIER_TARGET static void store(float* to, Floats values) { _mm512_store_ps(to, values); }
    ESPALIER_TARGET static void store(std::int32_t* to, Ints values) { _mm512_store_si512(to, values); }
    ESPALIER_TARGET static Ints all(std::int32_t value) { return _mm512_set1_epi32(value); }

    ESPALIER_TARGET static bool any(Lanes lanes) { return lanes != 0; }
    ESPALIER_TARGET static Lanes not_above(Floats values, Floats limits) {
        return _mm512_cmp_ps_mask(values, limits, _CMP_NGE_UQ);
    }
    ESPALIER_TARGET static Lanes less(Ints a, Ints b) { return _mm512_cmplt_epi32_mask(a, b); }
    ESPALIER_TARGET static Ints smaller(Ints a, Ints b) { return pick(less(a, b), a, b); }
    /// Of keys, none of them the largest: the next one.
    ESPALIER_TARGET static Ints next(Ints keys) { return _mm512_add_epi32(keys, _mm512_set1_epi32(1)); }
    ESPALIER_TARGET static Ints pick(Lanes lanes, Ints yes, Ints no) { return _mm512_mask_mov_epi32(no, lanes, yes); }

    ESPALIER_TARGET static Ints keys_of(Floats values) {
        const __m512i bits = _mm512_castps_si512(_mm512_add_ps(values, _mm512_setzero_ps()));
        const __mmask16 nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
        return _mm512_mask_mov_epi32(flipped(bits), nan, _mm512_set1_epi32(kNanLane));
    }
    /// Of the keys of NaN and of no element the bits are those of a NaN as they are.
    ESPALIER_TARGET static Floats values_of(Ints keys) { return _mm512_castsi512_ps(flipped(keys)); }

private:
    /// Of negative numbers all bits but the sign: its own inverse.
    ESPALIER_TARGET static Ints flipped(Ints bits) {
        return _mm512_xor_si512(bits, _mm512_maskz_set1_epi32(_mm512_movepi32_mask(bits), 0x7FFFFFFF));
    }
};

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (!device.avx512) return Support::no("the processor has no AVX-512 (F, BW, DQ, VL)");
    return supports_lanes(problem);
}

}  // namespace

Variant<Problem> cpu_insertion_avx512() {
    return {.role = Role::modern,
            .summary = "sorted lists of 16 rows at once, a row to each lane of AVX-512",
            .limits = "AVX-512 (F, BW, DQ, VL); k <= 32",
            .tolerance = {.reason = "selects, computes nothing"},
            .optional_features = {"layout"},
            .supports = supports,
            .run = run_lanes<Avx512Lanes>};
}

}  // namespace espalier::smallest_k
