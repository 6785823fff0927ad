#pragma once

#include <immintrin.h>

#include "variants/smallest_k/cpu_minima.hpp"
#include "variants/smallest_k/x86/transpose_block.hpp"

#define ESPALIER_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))

namespace espalier::smallest_k {
namespace {

/// Lists with AVX-512: 16 elements are compared with the limit at once, and those that come before it are compressed to
/// the end of the list.
struct Avx512 {
    static constexpr std::int64_t kLanes = 16;

    static cpu::Key key(float value) { return static_cast<cpu::Key>(key_of(value) ^ 0x80000000U); }

    ESPALIER_AVX512 static std::int64_t scan(const float* row, std::int64_t begin, std::int64_t end, cpu::List& list,
                                             std::int64_t room) {
        const __m512 limit = _mm512_set1_ps(list.limit_value);
        std::int64_t c = begin;
        while (c < end && list.count <= room) {
            const std::int64_t left = end - c;
            if (left >= 4 * kLanes && !any_of_four(row + c, limit)) {
                c += 4 * kLanes;
                continue;
            }
            const std::int64_t stop = std::min(end, c + 4 * kLanes);
            for (; c < stop; c += kLanes) append(row, c, std::min(kLanes, stop - c), limit, list);
            c = stop;
        }
        return c;
    }

    ESPALIER_AVX512 static std::int64_t scan_all(const float* values, std::int64_t first, std::int64_t begin,
                                                 std::int64_t end, cpu::List& list, std::int64_t room) {
        std::int64_t c = begin;
        for (; c < end && list.count <= room; c += kLanes) {
            const __mmask16 valid = lanes_of(end - c);
            const __m512i keys = keys_of(_mm512_maskz_loadu_ps(valid, values + c));
            const __mmask16 found =
                list.limited ? _mm512_mask_cmplt_epi32_mask(valid, keys, _mm512_set1_epi32(list.limit)) : valid;
            list.count += put(list, list.count, found, keys, indices_from(first + c));
        }
        return std::min(c, end);
    }

    /// Without a branch for each vector: where some of four have an element below the limit, the others mostly do, too.
    ESPALIER_AVX512 static std::int64_t scan_below(const float* values, std::int64_t first, std::int64_t begin,
                                                   std::int64_t end, cpu::List& list, std::int64_t room) {
        const __m512 limit = _mm512_set1_ps(list.limit_value);
        std::int64_t c = begin;
        for (; end - c >= 4 * kLanes && list.count <= room; c += 4 * kLanes) {
            __m512 some[4];
            __mmask16 below[4];
            for (int i = 0; i < 4; ++i) {
                some[i] = _mm512_loadu_ps(values + c + i * kLanes);
                below[i] = _mm512_cmp_ps_mask(some[i], limit, _CMP_LT_OQ);
            }
            if (!(below[0] | below[1] | below[2] | below[3])) continue;
            for (int i = 0; i < 4; ++i) append_numbers(some[i], below[i], first + c + i * kLanes, list);
        }
        if (end - c >= 4 * kLanes || list.count > room) return c;
        for (; c < end; c += kLanes) {
            const __mmask16 valid = lanes_of(end - c);
            const __m512 some = _mm512_maskz_loadu_ps(valid, values + c);
            append_numbers(some, _mm512_mask_cmp_ps_mask(valid, some, limit, _CMP_LT_OQ), first + c, list);
        }
        return end;
    }

    static void transpose(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, float* to,
                          std::int64_t to_stride) {
        transpose_block(from, stride, rows, columns, to, to_stride);
    }

    ESPALIER_AVX512 static std::uint64_t candidates(const float* values, const float* limits, std::int64_t count) {
        std::uint64_t found = 0;
        for (std::int64_t i = 0; i < count; i += kLanes) {
            const auto valid = static_cast<__mmask16>(count - i >= kLanes ? 0xFFFF : (1U << (count - i)) - 1);
            const __m512 some = _mm512_maskz_loadu_ps(valid, values + i);
            found |= std::uint64_t{_mm512_mask_cmp_ps_mask(valid, some, _mm512_loadu_ps(limits + i), _CMP_NGE_UQ)} << i;
        }
        return found;
    }

    ESPALIER_AVX512 static cpu::Key bound(const cpu::Key* keys, std::size_t count, std::int32_t wanted,
                                          std::int32_t enough) {
        return bound_of(keys, count, wanted, enough);
    }

    ESPALIER_AVX512 static void minima(const float* values, std::int64_t count, std::int64_t groups, float* minima,
                                       cpu::Key* keys) {
        cpu::minima_of(values, count, groups, minima, keys);
    }

    ESPALIER_AVX512 static void ranks(const cpu::Key* keys, std::int64_t count, std::int32_t* ranks) {
        cpu::ranks_of(keys, count, ranks);
    }

    ESPALIER_AVX512 static std::int64_t keep(cpu::List& list, cpu::Key bound) {
        std::int64_t kept = 0, smaller = 0;
        for (std::int64_t j = 0; j < list.count; j += kLanes) {
            const auto valid = static_cast<__mmask16>(list.count - j >= kLanes ? 0xFFFF : (1U << (list.count - j)) - 1);
            const __m512i keys = _mm512_loadu_si512(list.keys + j);
            const __m512i indices = _mm512_loadu_si512(list.indices + j);
            smaller += std::popcount(
                static_cast<unsigned>(_mm512_mask_cmplt_epi32_mask(valid, keys, _mm512_set1_epi32(bound))));
            kept += put(list, kept, _mm512_mask_cmple_epi32_mask(valid, keys, _mm512_set1_epi32(bound)), keys, indices);
        }
        list.count = kept;
        return smaller;
    }

private:
    /// The first of 16, as many as are left.
    static __mmask16 lanes_of(std::int64_t left) {
        return static_cast<__mmask16>(left >= kLanes ? 0xFFFF : (1U << left) - 1);
    }

    /// Writes 16 entries at a place, those of the set first, and says how many that are.
    ESPALIER_AVX512 static std::int64_t put(cpu::List& list, std::int64_t at, __mmask16 set, __m512i keys,
                                            __m512i indices) {
        _mm512_storeu_si512(list.keys + at, _mm512_maskz_compress_epi32(set, keys));
        _mm512_storeu_si512(list.indices + at, _mm512_maskz_compress_epi32(set, indices));
        return std::popcount(static_cast<unsigned>(set));
    }

    ESPALIER_AVX512 static bool any_of_four(const float* values, __m512 limit) {
        __mmask16 any = 0;
        for (int i = 0; i < 4; ++i)
            any = _kor_mask16(any, _mm512_cmp_ps_mask(_mm512_loadu_ps(values + i * kLanes), limit, _CMP_NGE_UQ));
        return any != 0;
    }

    ESPALIER_AVX512 static void append_numbers(__m512 values, __mmask16 set, std::int64_t c, cpu::List& list) {
        const __m512i bits = _mm512_castps_si512(_mm512_add_ps(values, _mm512_setzero_ps()));
        const __m512i flip = _mm512_srli_epi32(_mm512_srai_epi32(bits, 31), 1);
        list.count += put(list, list.count, set, _mm512_xor_si512(bits, flip), indices_from(c));
    }

    ESPALIER_AVX512 static __m512i indices_from(std::int64_t c) {
        const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        return _mm512_add_epi32(lane, _mm512_set1_epi32(static_cast<int>(c)));
    }

    /// As `key`, of 16.
    ESPALIER_AVX512 static __m512i keys_of(__m512 values) {
        const __m512i bits = _mm512_castps_si512(_mm512_add_ps(values, _mm512_setzero_ps()));
        const __m512i flip = _mm512_maskz_set1_epi32(_mm512_movepi32_mask(bits), 0x7FFFFFFF);
        const __mmask16 nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
        return _mm512_mask_mov_epi32(_mm512_xor_si512(bits, flip), nan, _mm512_set1_epi32(cpu::kNan));
    }

    ESPALIER_AVX512 static void append(const float* row, std::int64_t c, std::int64_t lanes, __m512 limit,
                                       cpu::List& list) {
        const auto valid = static_cast<__mmask16>((1U << lanes) - 1);
        const __m512 values = _mm512_maskz_loadu_ps(valid, row + c);
        __mmask16 found = _mm512_mask_cmp_ps_mask(valid, values, limit, _CMP_NGE_UQ);
        if (!found) return;
        const __m512i keys = keys_of(values);
        if (list.limited) found = _mm512_mask_cmplt_epi32_mask(found, keys, _mm512_set1_epi32(list.limit));
        const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        const __m512i indices = _mm512_add_epi32(lane, _mm512_set1_epi32(static_cast<int>(c)));
        list.count += put(list, list.count, found, keys, indices);
    }
};

}  // namespace
}  // namespace espalier::smallest_k
