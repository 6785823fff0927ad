#pragma once

#include <immintrin.h>

#include <array>

#include "variants/smallest_k/cpu_minima.hpp"
#include "variants/smallest_k/x86/transpose_block.hpp"

#define ESPALIER_AVX2 __attribute__((target("avx2")))

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

/// Lists with AVX2: 8 elements are compared with the limit at once, and those that come before it are moved to the end
/// of the list by a permutation from a table.
struct Avx2 {
    static constexpr std::int64_t kLanes = 8;

    static cpu::Key key(float value) { return static_cast<cpu::Key>(key_of(value) ^ 0x80000000U); }

    ESPALIER_AVX2 static std::int64_t scan(const float* row, std::int64_t begin, std::int64_t end, cpu::List& list,
                                           std::int64_t room) {
        const __m256 limit = _mm256_set1_ps(list.limit_value);
        std::int64_t c = begin;
        while (c < end && list.count <= room) {
            const std::int64_t left = end - c;
            if (left >= 4 * kLanes && !any_of_four(row + c, limit)) {
                c += 4 * kLanes;
                continue;
            }
            const std::int64_t stop = std::min(end, c + 4 * kLanes);
            for (; stop - c >= kLanes; c += kLanes) append(_mm256_loadu_ps(row + c), c, limit, list);
            for (; c < stop; ++c)
                if (const cpu::Key one = key(row[c]); !list.limited || one < list.limit) list.append(one, c);
        }
        return c;
    }

    ESPALIER_AVX2 static std::int64_t scan_all(const float* values, std::int64_t first, std::int64_t begin,
                                               std::int64_t end, cpu::List& list, std::int64_t room) {
        std::int64_t c = begin;
        for (; end - c >= kLanes && list.count <= room; c += kLanes) {
            const __m256i keys = keys_of(_mm256_loadu_ps(values + c));
            const unsigned found =
                list.limited ? mask(_mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(list.limit), keys)))
                             : 0xFFU;
            list.count += put(list, list.count, found, keys, indices_from(first + c));
        }
        if (end - c >= kLanes) return c;
        for (; c < end; ++c)
            if (const cpu::Key one = key(values[c]); !list.limited || one < list.limit) list.append(one, first + c);
        return end;
    }

    /// Without a branch for each vector: where some of four have an element below the limit, the others mostly do, too.
    ESPALIER_AVX2 static std::int64_t scan_below(const float* values, std::int64_t first, std::int64_t begin,
                                                 std::int64_t end, cpu::List& list, std::int64_t room) {
        const __m256 limit = _mm256_set1_ps(list.limit_value);
        std::int64_t c = begin;
        for (; end - c >= 4 * kLanes && list.count <= room; c += 4 * kLanes) {
            __m256 some[4];
            unsigned below[4];
            for (int i = 0; i < 4; ++i) {
                some[i] = _mm256_loadu_ps(values + c + i * kLanes);
                below[i] = mask(_mm256_cmp_ps(some[i], limit, _CMP_LT_OQ));
            }
            if (!(below[0] | below[1] | below[2] | below[3])) continue;
            for (int i = 0; i < 4; ++i) append_numbers(some[i], below[i], first + c + i * kLanes, list);
        }
        if (end - c >= 4 * kLanes || list.count > room) return c;
        for (; c < end; ++c)
            if (values[c] < list.limit_value) list.append(key(values[c]), first + c);
        return end;
    }

    static void transpose(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, float* to,
                          std::int64_t to_stride) {
        transpose_block(from, stride, rows, columns, to, to_stride);
    }

    ESPALIER_AVX2 static std::uint64_t candidates(const float* values, const float* limits, std::int64_t count) {
        std::uint64_t found = 0;
        std::int64_t i = 0;
        for (; count - i >= kLanes; i += kLanes) {
            const __m256 some = _mm256_cmp_ps(_mm256_loadu_ps(values + i), _mm256_loadu_ps(limits + i), _CMP_NGE_UQ);
            found |= std::uint64_t{mask(some)} << i;
        }
        for (; i < count; ++i) found |= std::uint64_t{may_come_before(values[i], limits[i])} << i;
        return found;
    }

    ESPALIER_AVX2 static cpu::Key bound(const cpu::Key* keys, std::size_t count, std::int32_t wanted,
                                        std::int32_t enough) {
        return bound_of(keys, count, wanted, enough);
    }

    ESPALIER_AVX2 static void minima(const float* values, std::int64_t count, std::int64_t groups, float* minima,
                                     cpu::Key* keys) {
        cpu::minima_of(values, count, groups, minima, keys);
    }

    ESPALIER_AVX2 static void ranks(const cpu::Key* keys, std::int64_t count, std::int32_t* ranks) {
        cpu::ranks_of(keys, count, ranks);
    }

    ESPALIER_AVX2 static std::int64_t keep(cpu::List& list, cpu::Key bound) {
        std::int64_t kept = 0, smaller = 0;
        for (std::int64_t j = 0; j < list.count; j += kLanes) {
            const unsigned valid = list.count - j >= kLanes ? 0xFFU : (1U << (list.count - j)) - 1;
            const __m256i keys = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(list.keys + j));
            const __m256i indices = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(list.indices + j));
            const __m256i less = _mm256_cmpgt_epi32(_mm256_set1_epi32(bound), keys);
            const __m256i more = _mm256_cmpgt_epi32(keys, _mm256_set1_epi32(bound));
            smaller += std::popcount(mask(_mm256_castsi256_ps(less)) & valid);
            kept += put(list, kept, ~mask(_mm256_castsi256_ps(more)) & valid, keys, indices);
        }
        list.count = kept;
        return smaller;
    }

private:
    /// Writes 8 entries at a place, those of the set first, and says how many that are.
    ESPALIER_AVX2 static std::int64_t put(cpu::List& list, std::int64_t at, unsigned set, __m256i keys,
                                          __m256i indices) {
        const __m256i first = _mm256_load_si256(reinterpret_cast<const __m256i*>(kPermutations[set].data()));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(list.keys + at), _mm256_permutevar8x32_epi32(keys, first));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(list.indices + at), _mm256_permutevar8x32_epi32(indices, first));
        return std::popcount(set);
    }

    ESPALIER_AVX2 static unsigned mask(__m256 lanes) { return static_cast<unsigned>(_mm256_movemask_ps(lanes)); }

    ESPALIER_AVX2 static bool any_of_four(const float* values, __m256 limit) {
        __m256 any = _mm256_setzero_ps();
        for (int i = 0; i < 4; ++i)
            any = _mm256_or_ps(any, _mm256_cmp_ps(_mm256_loadu_ps(values + i * kLanes), limit, _CMP_NGE_UQ));
        return mask(any) != 0;
    }

    ESPALIER_AVX2 static void append_numbers(__m256 values, unsigned set, std::int64_t c, cpu::List& list) {
        const __m256i bits = _mm256_castps_si256(_mm256_add_ps(values, _mm256_setzero_ps()));
        const __m256i flip = _mm256_srli_epi32(_mm256_srai_epi32(bits, 31), 1);
        list.count += put(list, list.count, set, _mm256_xor_si256(bits, flip), indices_from(c));
    }

    ESPALIER_AVX2 static __m256i indices_from(std::int64_t c) {
        const __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
        return _mm256_add_epi32(lane, _mm256_set1_epi32(static_cast<int>(c)));
    }

    /// As `key`, of 8.
    ESPALIER_AVX2 static __m256i keys_of(__m256 values) {
        const __m256i bits = _mm256_castps_si256(_mm256_add_ps(values, _mm256_setzero_ps()));
        const __m256i flip = _mm256_srli_epi32(_mm256_srai_epi32(bits, 31), 1);
        const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
        return _mm256_blendv_epi8(_mm256_xor_si256(bits, flip), _mm256_set1_epi32(cpu::kNan), nan);
    }

    ESPALIER_AVX2 static void append(__m256 values, std::int64_t c, __m256 limit, cpu::List& list) {
        unsigned found = mask(_mm256_cmp_ps(values, limit, _CMP_NGE_UQ));
        if (!found) return;
        const __m256i keys = keys_of(values);
        if (list.limited) found &= mask(_mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(list.limit), keys)));
        const __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
        list.count +=
            put(list, list.count, found, keys, _mm256_add_epi32(lane, _mm256_set1_epi32(static_cast<int>(c))));
    }
};

}  // namespace
}  // namespace espalier::smallest_k
