#pragma once

#include <immintrin.h>

#include <cstdint>

#include "variants/transpose_8x8.hpp"

namespace espalier::smallest_k {

/// to[r * to_stride + c] = from[c * stride + r], for processors with AVX2.
__attribute__((target("avx2"))) inline void transpose_block(const float* from, std::int64_t stride, std::int64_t rows,
                                                            std::int64_t columns, float* to, std::int64_t to_stride) {
    std::int64_t c = 0;
    for (; c + 8 <= columns; c += 8) {
        std::int64_t r = 0;
        for (; r + 8 <= rows; r += 8) {
            __m256 tile[8];
#pragma GCC unroll 8
            for (int i = 0; i < 8; ++i) tile[i] = _mm256_loadu_ps(from + (c + i) * stride + r);
            transpose_8x8(tile);
#pragma GCC unroll 8
            for (int i = 0; i < 8; ++i) _mm256_storeu_ps(to + (r + i) * to_stride + c, tile[i]);
        }
        for (; r < rows; ++r)
            for (int i = 0; i < 8; ++i) to[r * to_stride + c + i] = from[(c + i) * stride + r];
    }
    for (; c < columns; ++c)
        for (std::int64_t r = 0; r < rows; ++r) to[r * to_stride + c] = from[c * stride + r];
}

}  // namespace espalier::smallest_k
