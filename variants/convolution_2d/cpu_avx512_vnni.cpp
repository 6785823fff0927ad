// Four products per lane and instruction (VPDPBUSD: 4 bytes times 4 signed bytes, added to 32 bits).
// The bytes of four consecutive rows are interleaved, so that a lane holds a column of four values; eight
// rows are two such quads and hold all that four rows of the result need:
//     row o = sum over j of quad_0[v + j c] . (taps of rows 0-3) + quad_1[v + j c] . (taps of rows 4-7),
// with zeros for the rows out of reach. That is 10 instructions for 16 values instead of 25 multiplications
// and as many additions for 32, and interleaving serves four rows of the result. The quads of a block are
// kept in the first-level cache, where the five shifts are unaligned loads and leave the shuffle unit alone.

#include <immintrin.h>

#include <algorithm>

#include "harness/core/variant.hpp"
#include "variants/convolution_2d/cpu_avx2_kernels.hpp"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

constexpr int kQuad = 4;
constexpr int kGroups = 4;  ///< vectors of 16 sums that make 64 bytes of the result

class Kernel {
public:
    using Source = std::uint8_t;
    static constexpr int kStep = 64;
    static constexpr int kRows = 4;

    Kernel(const Problem& problem, const Filter5x5& filter) : channels_(problem.channels) {
        for (int o = 0; o < kRows; ++o)
            for (int q = 0; q < 2; ++q)
                for (int j = 0; j < kDiameter; ++j) {
                    std::uint32_t taps = 0;
                    for (int r = 0; r < kQuad; ++r) {
                        const int i = kQuad * q + r - o;
                        if (i < 0 || i >= kDiameter) continue;
                        const auto tap = static_cast<std::int8_t>(filter[static_cast<std::size_t>(i * kDiameter + j)]);
                        taps |= std::uint32_t{static_cast<std::uint8_t>(tap)} << (8 * r);
                    }
                    taps_[o][q][j] = static_cast<std::int32_t>(taps);
                }
    }

    template <int kCount>
    __attribute__((target("avx512f,avx512bw,avx512vnni"))) void apply(const SourceRows<Source, kCount>& rows,
                                                                      const ResultRows<kCount>& results,
                                                                      std::int64_t count) const {
        alignas(64) std::uint32_t quads[2][kBlock + 4 * kQuad];
        const std::int64_t columns = count + 4 * channels_;
        interleave<kCount>(quads[0], rows, 0, columns);
        interleave<kCount>(quads[1], rows, kQuad, columns);
        for (std::int64_t v = 0; v < count; v += kStep) {
            if (v + kStep > count) v = count - kStep;  // the last ones again rather than fewer at once
            __m512i sums[kCount][kGroups];
#pragma GCC unroll 4
            for (int o = 0; o < kCount; ++o)
#pragma GCC unroll 4
                for (int g = 0; g < kGroups; ++g) sums[o][g] = _mm512_setzero_si512();
#pragma GCC unroll 2
            for (int q = 0; q < 2; ++q)
#pragma GCC unroll 5
                for (int j = 0; j < kDiameter; ++j) {
                    const std::uint32_t* const from = quads[q] + v + j * channels_;
                    __m512i values[kGroups];
#pragma GCC unroll 4
                    for (int g = 0; g < kGroups; ++g) values[g] = _mm512_loadu_si512(from + 16 * g);
#pragma GCC unroll 4
                    for (int o = 0; o < kCount; ++o) {
                        const __m512i taps = _mm512_set1_epi32(taps_[o][q][j]);
#pragma GCC unroll 4
                        for (int g = 0; g < kGroups; ++g) sums[o][g] = _mm512_dpbusd_epi32(sums[o][g], values[g], taps);
                    }
                }
#pragma GCC unroll 4
            for (int o = 0; o < kCount; ++o) store(results[static_cast<std::size_t>(o)] + v, sums[o]);
        }
    }

private:
    /// Lane v of `quads` becomes the bytes of column v of four rows, from `first` on. A row beyond those that
    /// there are meets zero taps only; the last one stands in for it.
    template <int kCount>
    __attribute__((target("avx512f,avx512bw"))) static void interleave(std::uint32_t* quads,
                                                                       const SourceRows<Source, kCount>& rows,
                                                                       std::size_t first, std::int64_t columns) {
        // Unpacking works within quarters of a register: with the words transposed beforehand, quarter k of
        // the m-th result is columns 16 m + 4 k and the order is right.
        const __m512i transposed = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        const std::uint8_t* from[kQuad];
        for (std::size_t r = 0; r < kQuad; ++r) from[r] = rows[std::min(first + r, rows.size() - 1)];
        for (std::int64_t v = 0; v < columns; v += kStep) {
            if (v + kStep > columns) v = columns - kStep;
            __m512i row[kQuad];
#pragma GCC unroll 4
            for (int r = 0; r < kQuad; ++r)
                row[r] = _mm512_maskz_permutexvar_epi32(0xFFFF, transposed, _mm512_loadu_si512(from[r] + v));
            const __m512i low_01 = _mm512_unpacklo_epi8(row[0], row[1]), high_01 = _mm512_unpackhi_epi8(row[0], row[1]);
            const __m512i low_23 = _mm512_unpacklo_epi8(row[2], row[3]), high_23 = _mm512_unpackhi_epi8(row[2], row[3]);
            _mm512_storeu_si512(quads + v, _mm512_unpacklo_epi16(low_01, low_23));
            _mm512_storeu_si512(quads + v + 16, _mm512_unpackhi_epi16(low_01, low_23));
            _mm512_storeu_si512(quads + v + 32, _mm512_unpacklo_epi16(high_01, high_23));
            _mm512_storeu_si512(quads + v + 48, _mm512_unpackhi_epi16(high_01, high_23));
        }
    }

    /// 64 sums as bytes. Packing, too, works within quarters: the words are put back in order.
    __attribute__((target("avx512f,avx512bw"))) static void store(std::uint8_t* to, const __m512i (&sums)[kGroups]) {
        const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        const __m512i bytes =
            _mm512_packus_epi16(_mm512_packs_epi32(sums[0], sums[1]), _mm512_packs_epi32(sums[2], sums[3]));
        _mm512_storeu_si512(to, _mm512_maskz_permutexvar_epi32(0xFFFF, order, bytes));
    }

    std::int32_t taps_[kRows][2][kDiameter];
    std::int64_t channels_;
};

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (!device.avx512_vnni) return Support::no("needs a processor with AVX-512 VNNI");
    if (Support support = supports_avx2(device, configuration["parallel"]); !support) return support;
    return supports_16_bit_sums(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const int threads = configuration["parallel"] ? context.device.threads : 1;
    // Narrow allows a coefficient of 128, if it is the only positive one: the one that is no signed byte.
    if (std::ranges::any_of(*buffers.filter, [](float tap) { return tap > 127; }))
        return correlate_in_parallel(problem, buffers.image, buffers.result,
                                     Int16Kernel<std::uint8_t>(problem, *buffers.filter), threads);
    correlate_in_parallel(problem, buffers.image, buffers.result, Kernel(problem, *buffers.filter), threads);
}

}  // namespace

Variant<Problem> cpu_avx512_vnni() {
    return {.role = Role::modern,
            .summary = "byte products of four interleaved rows at a time, four rows of the result at once",
            .limits = "AVX-512 VNNI; narrow coefficients",
            .tolerance = kExact,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
