#pragma once

#include <immintrin.h>

#include <bit>

#include "variants/prefer_512.hpp"

#define ESPALIER_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl" ESPALIER_PREFER_512)))

#include "variants/smallest_k/x86/vector_lists.hpp"

namespace espalier::smallest_k {
namespace {

/// Those that come before the limit are compressed.
struct Avx512Vectors {
    using Floats = __m512;
    using Ints = __m512i;
    using Lanes = __mmask16;
    static constexpr std::int64_t kLanes = 16;
    static constexpr bool kMasks = true;

    static Lanes first_lanes(std::int64_t left) {
        return static_cast<__mmask16>(left >= kLanes ? 0xFFFF : (1U << left) - 1);
    }

    ESPALIER_TARGET static Floats all(float value) { return _mm512_set1_ps(value); }
    ESPALIER_TARGET static Floats load(const float* from) { return _mm512_loadu_ps(from); }
    ESPALIER_TARGET static Floats load(Lanes valid, const float* from) { return _mm512_maskz_loadu_ps(valid, from); }
    ESPALIER_TARGET static Ints load(const std::int32_t* from) { return _mm512_loadu_si512(from); }

    ESPALIER_TARGET static Lanes below(Floats values, Floats limit) {
        return _mm512_cmp_ps_mask(values, limit, _CMP_LT_OQ);
    }
    ESPALIER_TARGET static Lanes below(Lanes valid, Floats values, Floats limit) {
        return _mm512_mask_cmp_ps_mask(valid, values, limit, _CMP_LT_OQ);
    }
    /// NaN neither is above a limit nor has anything above it.
    ESPALIER_TARGET static Lanes not_above(Lanes valid, Floats values, Floats limit) {
        return _mm512_mask_cmp_ps_mask(valid, values, limit, _CMP_NGE_UQ);
    }
    ESPALIER_TARGET static bool any_of_four(const float* values, Floats limit) {
        __mmask16 any = 0;
        for (int i = 0; i < 4; ++i)
            any = _kor_mask16(any, _mm512_cmp_ps_mask(_mm512_loadu_ps(values + i * kLanes), limit, _CMP_NGE_UQ));
        return any != 0;
    }
    ESPALIER_TARGET static Lanes less(Lanes valid, Ints keys, cpu::Key bound) {
        return _mm512_mask_cmplt_epi32_mask(valid, keys, _mm512_set1_epi32(bound));
    }
    ESPALIER_TARGET static Lanes up_to(Lanes valid, Ints keys, cpu::Key bound) {
        return _mm512_mask_cmple_epi32_mask(valid, keys, _mm512_set1_epi32(bound));
    }

    /// Writes 16 entries at a place, those of the set first, and says how many that are.
    ESPALIER_TARGET static std::int64_t put(cpu::List& list, std::int64_t at, Lanes set, Ints keys, Ints indices) {
        _mm512_storeu_si512(list.keys + at, _mm512_maskz_compress_epi32(set, keys));
        _mm512_storeu_si512(list.indices + at, _mm512_maskz_compress_epi32(set, indices));
        return std::popcount(static_cast<unsigned>(set));
    }

    ESPALIER_TARGET static Ints indices_from(std::int64_t c) {
        const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        return _mm512_add_epi32(lane, _mm512_set1_epi32(static_cast<int>(c)));
    }

    /// As `key` of 16 elements, none of them NaN.
    ESPALIER_TARGET static Ints keys_of_numbers(Floats values) {
        const __m512i bits = _mm512_castps_si512(_mm512_add_ps(values, _mm512_setzero_ps()));
        const __m512i flip = _mm512_srli_epi32(_mm512_srai_epi32(bits, 31), 1);
        return _mm512_xor_si512(bits, flip);
    }
    ESPALIER_TARGET static Ints keys_of(Floats values) {
        const __m512i bits = _mm512_castps_si512(_mm512_add_ps(values, _mm512_setzero_ps()));
        const __m512i flip = _mm512_maskz_set1_epi32(_mm512_movepi32_mask(bits), 0x7FFFFFFF);
        const __mmask16 nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
        return _mm512_mask_mov_epi32(_mm512_xor_si512(bits, flip), nan, _mm512_set1_epi32(cpu::kNan));
    }
};

/// Lists with AVX-512.
using Avx512 = VectorLists<Avx512Vectors>;

}  // namespace
}  // namespace espalier::smallest_k
