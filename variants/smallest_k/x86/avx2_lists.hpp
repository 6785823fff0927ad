#pragma once

#include <immintrin.h>

#include <array>
#include <bit>

#define ESPALIER_TARGET __attribute__((target("avx2")))

#include "variants/smallest_k/x86/vector_lists.hpp"

namespace espalier::smallest_k {
namespace {

/// For each set of lanes: those lanes first.
constexpr std::array<std::array<std::int32_t, 8>, 256> permutations() {
    std::array<std::array<std::int32_t, 8>, 256> table{};
    for (std::size_t set = 0; set < table.size(); ++set)
        for (std::int32_t lane = 0, at = 0; lane < 8; ++lane)
            if (set >> lane & 1) table[set][static_cast<std::size_t>(at++)] = lane;
    return table;
}
alignas(32) constexpr auto kPermutations = permutations();

/// Those that come before the limit are moved by a permutation from a table.
struct Avx2Vectors {
    using Floats = __m256;
    using Ints = __m256i;
    using Lanes = unsigned;
    static constexpr std::int64_t kLanes = 8;
    static constexpr bool kMasks = false;

    ESPALIER_TARGET static Floats all(float value) { return _mm256_set1_ps(value); }
    ESPALIER_TARGET static Floats load(const float* from) { return _mm256_loadu_ps(from); }
    ESPALIER_TARGET static Ints load(const std::int32_t* from) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    }

    ESPALIER_TARGET static Lanes below(Floats values, Floats limit) {
        return mask(_mm256_cmp_ps(values, limit, _CMP_LT_OQ));
    }
    /// NaN neither is above a limit nor has anything above it.
    ESPALIER_TARGET static Lanes not_above(Floats values, Floats limit) {
        return mask(_mm256_cmp_ps(values, limit, _CMP_NGE_UQ));
    }
    ESPALIER_TARGET static bool any_of_four(const float* values, Floats limit) {
        __m256 any = _mm256_setzero_ps();
        for (int i = 0; i < 4; ++i)
            any = _mm256_or_ps(any, _mm256_cmp_ps(_mm256_loadu_ps(values + i * kLanes), limit, _CMP_NGE_UQ));
        return mask(any) != 0;
    }
    ESPALIER_TARGET static Lanes less(Ints keys, cpu::Key bound) {
        return mask(_mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(bound), keys)));
    }
    ESPALIER_TARGET static Lanes less(Lanes valid, Ints keys, cpu::Key bound) { return valid & less(keys, bound); }
    ESPALIER_TARGET static Lanes up_to(Lanes valid, Ints keys, cpu::Key bound) {
        return valid & ~mask(_mm256_castsi256_ps(_mm256_cmpgt_epi32(keys, _mm256_set1_epi32(bound))));
    }

    /// Writes 8 entries at a place, those of the set first, and says how many that are.
    ESPALIER_TARGET static std::int64_t put(cpu::List& list, std::int64_t at, Lanes set, Ints keys, Ints indices) {
        const __m256i first = _mm256_load_si256(reinterpret_cast<const __m256i*>(kPermutations[set].data()));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(list.keys + at), _mm256_permutevar8x32_epi32(keys, first));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(list.indices + at), _mm256_permutevar8x32_epi32(indices, first));
        return std::popcount(set);
    }

    ESPALIER_TARGET static Ints indices_from(std::int64_t c) {
        const __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
        return _mm256_add_epi32(lane, _mm256_set1_epi32(static_cast<int>(c)));
    }

    /// As `key` of 8 elements, none of them NaN.
    ESPALIER_TARGET static Ints keys_of_numbers(Floats values) {
        const __m256i bits = _mm256_castps_si256(_mm256_add_ps(values, _mm256_setzero_ps()));
        const __m256i flip = _mm256_srli_epi32(_mm256_srai_epi32(bits, 31), 1);
        return _mm256_xor_si256(bits, flip);
    }
    ESPALIER_TARGET static Ints keys_of(Floats values) {
        const __m256i keys = keys_of_numbers(values);
        const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
        return _mm256_blendv_epi8(keys, _mm256_set1_epi32(cpu::kNan), nan);
    }

private:
    ESPALIER_TARGET static unsigned mask(__m256 lanes) { return static_cast<unsigned>(_mm256_movemask_ps(lanes)); }
};

/// Lists with AVX2.
using Avx2 = VectorLists<Avx2Vectors>;

}  // namespace
}  // namespace espalier::smallest_k
