// register_insertion on the CPU with AVX2: 8 neighbouring rows, a lane each, have their sorted lists in vectors.

#include <immintrin.h>

#define ESPALIER_TARGET __attribute__((target("avx2")))

#include "variants/smallest_k/x86/lane_insertion.hpp"

namespace espalier::smallest_k {
namespace {

struct Avx2Lanes {
    using Floats = __m256;
    using Ints = __m256i;
    using Lanes = __m256i;
    static constexpr std::int64_t kLanes = 8;

    ESPALIER_TARGET static Floats load(const float* from) { return _mm256_loadu_ps(from); }
    ESPALIER_TARGET static Ints load(const std::int32_t* from) {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
    }
    ESPALIER_TARGET static void store(float* to, Floats values) { _mm256_store_ps(to, values); }
    ESPALIER_TARGET static void store(std::int32_t* to, Ints values) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(to), values);
    }
    ESPALIER_TARGET static Ints all(std::int32_t value) { return _mm256_set1_epi32(value); }

    ESPALIER_TARGET static bool any(Lanes lanes) { return _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) != 0; }
    ESPALIER_TARGET static Lanes not_above(Floats values, Floats limits) {
        return _mm256_castps_si256(_mm256_cmp_ps(values, limits, _CMP_NGE_UQ));
    }
    ESPALIER_TARGET static Lanes less(Ints a, Ints b) { return _mm256_cmpgt_epi32(b, a); }
    ESPALIER_TARGET static Ints smaller(Ints a, Ints b) { return _mm256_min_epi32(a, b); }
    /// Of keys, none of them the largest: the next one.
    ESPALIER_TARGET static Ints next(Ints keys) { return _mm256_add_epi32(keys, _mm256_set1_epi32(1)); }
    ESPALIER_TARGET static Ints pick(Lanes lanes, Ints yes, Ints no) { return _mm256_blendv_epi8(no, yes, lanes); }

    ESPALIER_TARGET static Ints keys_of(Floats values) {
        const __m256i bits = _mm256_castps_si256(_mm256_add_ps(values, _mm256_setzero_ps()));
        const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
        return _mm256_blendv_epi8(flipped(bits), _mm256_set1_epi32(kNanLane), nan);
    }
    /// Of the keys of NaN and of no element the bits are those of a NaN as they are.
    ESPALIER_TARGET static Floats values_of(Ints keys) { return _mm256_castsi256_ps(flipped(keys)); }

private:
    /// Of negative numbers all bits but the sign: its own inverse.
    ESPALIER_TARGET static Ints flipped(Ints bits) {
        return _mm256_xor_si256(bits, _mm256_srli_epi32(_mm256_srai_epi32(bits, 31), 1));
    }
};

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (!device.avx2) return Support::no("needs a processor with AVX2");
    return supports_lanes(problem);
}

}  // namespace

Variant<Problem> cpu_insertion_avx2() {
    return {.role = Role::modern,
            .summary = "sorted lists of 8 rows at once, a row to each lane of AVX2",
            .limits = "AVX2; k <= 32",
            .tolerance = {.reason = "selects, computes nothing"},
            .optional_features = {"layout"},
            .supports = supports,
            .run = run_lanes<Avx2Lanes>};
}

}  // namespace espalier::smallest_k
