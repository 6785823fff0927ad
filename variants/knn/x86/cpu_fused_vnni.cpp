// Distances screened by products of whole numbers of 8 bits, of which a vector instruction takes 64 where it takes 16
// of single precision (VNNI). Each item is rounded to 127 steps of its own, and what that takes away is measured: the
// screen's bound has room for just that (docs/performance/knn-cpu.md).

#include "variants/knn/x86/avx512_vectors.hpp"

#define ESPALIER_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma" ESPALIER_PREFER_512)))

namespace espalier::knn {
namespace {

/// A panel begins with a row of steps, and of queries one of what the points' offset adds; then come four attributes of
/// each item at a time.
struct Vnni : VectorTiles<Avx512> {
    static constexpr bool kRounds = true;
    static constexpr std::int64_t kCandidates = 8, kFewBlocks = 0, kBlockFloats = 192 << 10;
    static constexpr int kVectors = kPoints / kLanes, kHead = 2, kAtOnce = 4;
    static constexpr std::uint32_t kOffset = 128;  // the instruction's left numbers have no sign

    static constexpr std::int64_t depth(std::int64_t dims) { return kHead + (dims + kAtOnce - 1) / kAtOnce; }
    static constexpr std::int64_t roundings(std::int64_t) { return 128; }
    static constexpr double smallest(std::int64_t dims) { return static_cast<double>(1024 * dims + 64) * 0x1p-149; }

    template <Terms terms>
    ESPALIER_VNNI static bool tile(const fused::TileInput& in, Tile& out) {
        static_assert(terms == Terms::products);
        __m512i sums[kQueries][kVectors];
#pragma GCC unroll 8
        for (auto& of_query : sums)
#pragma GCC unroll 3
            for (__m512i& sum : of_query) sum = _mm512_setzero_si512();
        const float* x = in.queries + kHead * kQueries;
        const float* y = in.points + kHead * kPoints;
        for (std::int64_t a = 0; a < in.dims; a += kAtOnce, x += kQueries, y += kPoints) {
            __m512i values[kVectors];
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v) values[v] = _mm512_loadu_si512(y + kLanes * v);
#pragma GCC unroll 8
            for (int q = 0; q < kQueries; ++q) {
                const __m512i value = _mm512_castps_si512(_mm512_set1_ps(x[q]));
#pragma GCC unroll 3
                for (int v = 0; v < kVectors; ++v) sums[q][v] = _mm512_dpbusd_epi32(sums[q][v], values[v], value);
            }
        }
        std::uint64_t any = 0;
#pragma GCC unroll 8
        for (int q = 0; q < kQueries; ++q) {
            const __m512 step = _mm512_set1_ps(in.queries[q]), limit = _mm512_set1_ps(in.limits[q]);
            const __m512i added = _mm512_castps_si512(_mm512_set1_ps(in.queries[kQueries + q]));
            out.wanted[q] = 0;
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v) {
                const __m512 sum = _mm512_maskz_cvtepi32_ps(Avx512::kAll, _mm512_sub_epi32(sums[q][v], added));
                const __m512 product = _mm512_mul_ps(sum, _mm512_loadu_ps(in.points + kLanes * v));
                const __m512 value = _mm512_fmadd_ps(product, step, _mm512_loadu_ps(in.starts + kLanes * v));
                _mm512_storeu_ps(out.values[q] + kLanes * v, value);
                out.wanted[q] |= Avx512::bits(Avx512::wanted(value, limit)) << (kLanes * v);
            }
            any |= out.wanted[q];
        }
        return any != 0;
    }

    static void round_queries(const fused::Slice& slice, const float* centre, float* panel, fused::Rounded& rounded) {
        std::array<std::uint32_t, kQueries> sums{};
        round_items<kQueries, 0>(slice, centre, panel, rounded.squares.data(), rounded.residuals.data(), sums.data());
        for (int q = 0; q < kQueries; ++q) {
            panel[q] *= -2;
            panel[kQueries + q] = std::bit_cast<float>(kOffset * sums[static_cast<std::size_t>(q)]);
        }
    }

    static void round_points(const fused::Slice& slice, const float* centre, float* panel, fused::Rounded& rounded) {
        std::array<std::uint32_t, kPoints> sums{};
        round_items<kPoints, kOffset>(slice, centre, panel, rounded.squares.data(), rounded.residuals.data(),
                                      sums.data());
    }

private:
    /// Steps to the panel's first row, whole numbers and an offset to its others. The squares of the items, and of what
    /// was rounded away, not less than they are; the sums of the whole numbers.
    template <int kWidth, std::uint32_t offset>
    ESPALIER_VNNI static void round_items(const fused::Slice& slice, const float* centre, float* panel, double* squares,
                                          double* residuals, std::uint32_t* sums) {
        constexpr float kLeastLargest = 0x1p-100F;  // of smaller ones the inverse of a step would be none
        std::array<float, kWidth> largest{}, steps{}, inverse{}, lost{};
        std::array<double, kWidth> all{};
        fused::for_panel<kWidth>(
            slice, centre, [&](std::int64_t, int j, float value) __attribute__((always_inline)) {
                const float magnitude = std::fabs(value);
                auto& most = largest[static_cast<std::size_t>(j)];
                most = magnitude > most ? magnitude : most;
                all[static_cast<std::size_t>(j)] += static_cast<double>(value) * static_cast<double>(value);
            });
        for (std::size_t j = 0; j < kWidth; ++j) {
            const bool has_step = largest[j] >= kLeastLargest;
            steps[j] = has_step ? largest[j] / 127 : 0;
            inverse[j] = has_step ? 127 / largest[j] : 0;
        }
        std::ranges::copy(steps, panel);
        float* row = panel + std::ptrdiff_t{kHead} * kWidth;
        for (std::int64_t a = 0; a < slice.dims; a += kAtOnce, row += kWidth) {
            fused::Slice some = slice;
            some.values += a * slice.items;
            some.dims = std::min<std::int64_t>(kAtOnce, slice.dims - a);
            std::array<std::uint32_t, kWidth> words{};
            for (std::int64_t i = some.dims; i < kAtOnce; ++i)
                for (auto& word : words) word |= offset << (8 * i);
            fused::for_panel<kWidth>(
                some, centre + a, [&](std::int64_t i, int j, float value) __attribute__((always_inline)) {
                    constexpr float kWhole = 0x1.8p23F;  // numbers around it have no fractions
                    const auto item = static_cast<std::size_t>(j);
                    const float nearest = value * inverse[item] + kWhole;
                    // Of what is not finite any number, since such items are not screened.
                    const std::uint32_t number =
                        std::bit_cast<std::uint32_t>(nearest) - std::bit_cast<std::uint32_t>(kWhole);
                    const float rest = value - static_cast<float>(static_cast<std::int32_t>(number)) * steps[item];
                    lost[item] += rest * rest;
                    sums[j] += number;
                    words[item] |= ((number + offset) & 0xFF) << (8 * static_cast<int>(i));
                });
            for (std::size_t j = 0; j < kWidth; ++j) row[j] = std::bit_cast<float>(words[j]);
        }
        const double roundings = 1 + static_cast<double>(4 * slice.dims + 32) * 0x1p-24;
        for (std::int64_t j = 0; j < slice.count; ++j) {
            squares[j] = all[static_cast<std::size_t>(j)];
            residuals[j] = static_cast<double>(lost[static_cast<std::size_t>(j)]) * roundings;
        }
    }
};

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (!device.avx512_vnni) return Support::no("the processor has no AVX-512 with VNNI and VBMI");
    return fused::supports_products(problem);
}

using Vectors = VectorTiles<Avx512>;

/// In single precision where too much is as near as 8 bits can tell.
void run_whole(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (!fused::run_screened<Vnni>(context, problem, buffers, configuration))
        fused::run<Vectors>(context, problem, buffers, configuration);
}

}  // namespace

Variant<Problem> cpu_fused_vnni() {
    return {.role = Role::modern,
            .summary = "distances screened by products of 8-bit whole numbers, 8 queries x 48 points at once",
            .limits = "AVX-512 with VNNI and VBMI; euclidean, cosine; k <= 1,024; nothing missing",
            .tolerance = kPipeline,
            .space = {},
            .supports = supports,
            .workspace = fused::workspace_of_either<Vnni, Vectors>,
            .run = fused::run_in_cells<Vectors, run_whole, fused::workspace_of_either<Vnni, Vectors>>};
}

}  // namespace espalier::knn
