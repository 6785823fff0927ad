// Several products per lane and instruction: VPDPBUSD adds four products of a byte and a signed byte to 32 bits,
// VPDPWSSD two of 16-bit numbers, for coefficients that do not fit a byte.
// The values of four (two) consecutive rows are interleaved, so that a lane holds a piece of a column. Eight
// rows are two (four) such bands and hold all that four rows of the result need:
//     row o = sum over bands and j of band[v + j c] . (the taps of the band's rows for o and j),
// with zeros for the rows out of reach. That is 10 (15) instructions for 16 values instead of 25 multiplications
// and as many additions, and interleaving twelve rows serves eight rows of the result.
//
// The bands of a block stay in the first-level cache. All but the first of the five shifts begin within a cache line,
// and a load across two lines costs two. So the middle three are made of the registers that hold the lines, which the
// shuffle unit has time for, and only the last one is loaded.
//
// Interleaving reads a block's rows at a stretch, and the products that follow ask memory for nothing: there is the
// time to fetch the lines of the next block, and those of the result, which must be read before they can be written in
// part.

#include <immintrin.h>

#include <algorithm>

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_rows.hpp"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

/// Keeps a loaded vector in its register. The compiler would rather repeat the load in each of its uses, and
/// unaligned loads are what these kernels are short of.
__attribute__((target("avx512f"), always_inline)) inline void keep(__m512i& vector) { asm("" : "+v"(vector)); }

template <int kPerLane, int kChannels>
class Kernel {
public:
    using Source = std::uint8_t;
    static constexpr int kStep = 64;
    static constexpr int kRows = 8;
    static constexpr int kBlock = 768;

    explicit Kernel(const Filter5x5& filter) {
        for (int o = 0; o < kGroup; ++o)
            for (int band = 0; band < bands_for(kGroup); ++band)
                for (int j = 0; j < kDiameter; ++j) taps_[o][band][j] = lane_of_taps(filter, kPerLane * band - o, j);
    }

    template <int kCount>
    __attribute__((target("avx512f,avx512bw,avx512vnni"))) void apply(const SourceRows<Source, kCount>& rows,
                                                                      const ResultRows<kCount>& results,
                                                                      std::int64_t count) const {
        alignas(64) Band bands[bands_for(kCount)];
        for (int band = 0; band < bands_for(kCount); ++band)
            interleave<kCount>(bands[band], rows, kPerLane * band, count + 2 * kRadius * kChannels);
        constexpr int kAtOnce = std::min(kCount, kGroup);
        for (int first = 0; first < kCount; first += kAtOnce)
            multiply<kAtOnce>(bands + first / kPerLane, rows.data() + first + 2 * kRadius, results.data() + first,
                              count);
    }

private:
    static constexpr int kGroup = 4;             ///< rows whose sums fit the registers
    static constexpr int kVectors = kStep / 16;  ///< of 16 sums, which make 64 bytes of the result

    /// A row of lanes. The last ones belong to taps right of the block.
    using Band = std::uint32_t[kBlock + 16 * ((2 * kRadius * kChannels + 15) / 16)];

    /// Bands that hold all that `rows` rows of the result need.
    static constexpr int bands_for(int rows) { return (rows + 2 * kRadius + kPerLane - 1) / kPerLane; }

    /// Whether row o of the result needs a row of the band.
    static constexpr bool reaches(int o, int band) {
        return kPerLane * band + kPerLane - 1 >= o && kPerLane * band < o + kDiameter;
    }

    /// Column j of the taps from row `first` on, which may be outside, as a lane takes them.
    static std::int32_t lane_of_taps(const Filter5x5& filter, int first, int j) {
        constexpr int kBits = 32 / kPerLane;
        std::uint32_t lane = 0;
        for (int r = 0; r < kPerLane; ++r) {
            const int i = first + r;
            if (i < 0 || i >= kDiameter) continue;
            const auto tap = static_cast<std::int32_t>(filter[static_cast<std::size_t>(i * kDiameter + j)]);
            lane |= (static_cast<std::uint32_t>(tap) & ((1U << kBits) - 1)) << (kBits * r);
        }
        return static_cast<std::int32_t>(lane);
    }

    /// `count` values of kCount rows of the result from the bands that the first of them begins with. `sources` are the
    /// lowest rows that they reach, whose next block is fetched meanwhile.
    template <int kCount>
    __attribute__((target("avx512f,avx512bw,avx512vnni"))) void multiply(const Band* bands,
                                                                         const std::uint8_t* const* sources,
                                                                         std::uint8_t* const* results,
                                                                         std::int64_t count) const {
        for (std::int64_t v = 0; v < count; v += kStep) {
            if (v + kStep > count) v = count - kStep;  // the last ones again rather than fewer at once
            for (int o = 0; o < kCount; ++o) {
                __builtin_prefetch(sources[o] + v + count, 0);
                __builtin_prefetch(results[o] + v + 4 * kStep, 1);
            }
            __m512i sums[kCount][kVectors];
#pragma GCC unroll 4
            for (int o = 0; o < kCount; ++o)
#pragma GCC unroll 4
                for (int i = 0; i < kVectors; ++i) sums[o][i] = _mm512_setzero_si512();
            add_bands<0>(sums, bands, v);
#pragma GCC unroll 4
            for (int o = 0; o < kCount; ++o) store(results[o] + v, sums[o]);
        }
    }

    /// The products with the band's values from column v on, and with those of the bands below it.
    template <int kBand, int kCount>
    __attribute__((target("avx512f,avx512bw,avx512vnni"), always_inline)) void add_bands(
        __m512i (&sums)[kCount][kVectors], const Band* bands, std::int64_t v) const {
        const std::uint32_t* from = bands[kBand] + v;
        __m512i lines[kVectors + 1];
#pragma GCC unroll 5
        for (int i = 0; i <= kVectors; ++i) {
            lines[i] = _mm512_loadu_si512(from + 16 * i);
            keep(lines[i]);
        }
        add<kBand, 0>(sums, lines, from);
        add<kBand, 1>(sums, lines, from);
        add<kBand, 2>(sums, lines, from);
        add<kBand, 3>(sums, lines, from);
        add<kBand, 4>(sums, lines, from);
        if constexpr (kBand + 1 < bands_for(kCount)) add_bands<kBand + 1>(sums, bands, v);
    }

    /// Those with column j of the taps.
    template <int kBand, int j, int kCount>
    __attribute__((target("avx512f,avx512bw,avx512vnni"), always_inline)) void add(__m512i (&sums)[kCount][kVectors],
                                                                                   const __m512i (&lines)[kVectors + 1],
                                                                                   const std::uint32_t* from) const {
        constexpr int kShift = j * kChannels;
        __m512i values[kVectors];
#pragma GCC unroll 4
        for (int i = 0; i < kVectors; ++i) {
            if constexpr (kShift % 16 == 0) {
                values[i] = lines[i + kShift / 16];
            } else if constexpr (j < kDiameter - 1) {
                values[i] = _mm512_maskz_alignr_epi32(0xFFFF, lines[i + 1], lines[i], kShift);
            } else {
                values[i] = _mm512_loadu_si512(from + 16 * i + kShift);
                keep(values[i]);
            }
        }
#pragma GCC unroll 4
        for (int o = 0; o < kCount; ++o) {
            if (!reaches(o, kBand)) continue;
            const __m512i taps = _mm512_set1_epi32(taps_[o][kBand][j]);
#pragma GCC unroll 4
            for (int i = 0; i < kVectors; ++i)
                if constexpr (kPerLane == 4)
                    sums[o][i] = _mm512_dpbusd_epi32(sums[o][i], values[i], taps);
                else
                    sums[o][i] = _mm512_dpwssd_epi32(sums[o][i], values[i], taps);
        }
    }

    /// Lane v of `band` becomes the values of column v of kPerLane rows, from `first` on. A row beyond those that
    /// there are meets zero taps only; the last one stands in for it.
    template <int kCount>
    __attribute__((target("avx512f,avx512bw"))) static void interleave(std::uint32_t* band,
                                                                       const SourceRows<Source, kCount>& rows,
                                                                       std::size_t first, std::int64_t columns) {
        // Unpacking works within quarters of a register: with the words transposed beforehand, quarter k of
        // the m-th result is columns 16 m + 4 k and the order is right.
        const __m512i transposed = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        const std::uint8_t* from[kPerLane];
        for (std::size_t r = 0; r < kPerLane; ++r) from[r] = rows[std::min(first + r, rows.size() - 1)];
        for (std::int64_t v = 0; v < columns; v += kStep) {
            if (v + kStep > columns) v = columns - kStep;
            __m512i bytes[4];  // of a lane: with two values each is followed by a zero, its high byte
#pragma GCC unroll 4
            for (int b = 0; b < 4; ++b) {
                const bool high = b * kPerLane % 4 != 0;
                bytes[b] = high ? _mm512_setzero_si512()
                                : _mm512_maskz_permutexvar_epi32(0xFFFF, transposed,
                                                                 _mm512_loadu_si512(from[b * kPerLane / 4] + v));
            }
            const __m512i low_01 = _mm512_unpacklo_epi8(bytes[0], bytes[1]);
            const __m512i low_23 = _mm512_unpacklo_epi8(bytes[2], bytes[3]);
            const __m512i high_01 = _mm512_unpackhi_epi8(bytes[0], bytes[1]);
            const __m512i high_23 = _mm512_unpackhi_epi8(bytes[2], bytes[3]);
            _mm512_storeu_si512(band + v, _mm512_unpacklo_epi16(low_01, low_23));
            _mm512_storeu_si512(band + v + 16, _mm512_unpackhi_epi16(low_01, low_23));
            _mm512_storeu_si512(band + v + 32, _mm512_unpacklo_epi16(high_01, high_23));
            _mm512_storeu_si512(band + v + 48, _mm512_unpackhi_epi16(high_01, high_23));
        }
    }

    /// 64 sums as bytes. Packing, too, works within quarters: the words are put back in order.
    __attribute__((target("avx512f,avx512bw"))) static void store(std::uint8_t* to, const __m512i (&sums)[kVectors]) {
        const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        const __m512i bytes =
            _mm512_packus_epi16(_mm512_packs_epi32(sums[0], sums[1]), _mm512_packs_epi32(sums[2], sums[3]));
        _mm512_storeu_si512(to, _mm512_maskz_permutexvar_epi32(0xFFFF, order, bytes));
    }

    std::int32_t taps_[kGroup][bands_for(kGroup)][kDiameter];
};

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (!device.avx512_vnni) return Support::no("needs a processor with AVX-512 VNNI");
    if (Support support = supports_avx2(device, configuration["parallel"]); !support) return support;
    return supports_32_bit_sums(problem);
}

template <int kPerLane>
void correlate(const Problem& problem, const Buffers& buffers, int threads) {
    with_channels(problem.channels, [&](auto channels) {
        correlate_in_parallel(problem, buffers.image, buffers.result, Kernel<kPerLane, channels()>(*buffers.filter),
                              threads);
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const int threads = configuration["parallel"] ? context.device.threads : 1;
    const bool bytes = std::ranges::all_of(*buffers.filter, [](float tap) { return tap >= -128 && tap <= 127; });
    bytes ? correlate<4>(problem, buffers, threads) : correlate<2>(problem, buffers, threads);
}

}  // namespace

Variant<Problem> cpu_avx512_vnni() {
    return {.role = Role::modern,
            .summary = "several products per lane of interleaved rows, eight rows of the result at once",
            .limits = "AVX-512 VNNI; whole coefficients",
            .tolerance = kExact,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
