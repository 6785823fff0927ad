#pragma once

#include <cstddef>
#include <cstdint>

#include "variants/knn/fused/cells.hpp"
#include "variants/knn/x86/direct_sums.hpp"

#ifndef ESPALIER_TARGET
#error "the file that includes this names its instruction set: target(...)"
#endif

namespace espalier::knn {
namespace {

using fused::Terms;

/// The tiles of fused/pipeline.hpp with the vectors of one instruction set, ESPALIER_TARGET: so many groups of
/// `Vectors::kQueries` x so many vectors of points. `Vectors` has the instructions for `kLanes` numbers (`Floats`) and
/// for which of them are wanted (`Wanted`), and registers for `kAttributes` vectors of a stream at once.
template <class Vectors, int kVectors = 3, int kGroups = 1>
struct VectorTiles {
    static constexpr int kLanes = Vectors::kLanes, kRows = Vectors::kQueries;
    static constexpr int kQueries = kGroups * kRows, kPoints = kVectors * kLanes;
    static constexpr int kDirect = fused::kDirect;
    static constexpr std::int64_t kFewBlocks = 4, kBlockFloats = 48 << 10, kCandidates = 1;
    static constexpr bool kRounds = false;
    using Tile = fused::TileValues<kQueries, kPoints>;
    using Floats = typename Vectors::Floats;
    using Wanted = typename Vectors::Wanted;

    static void begin() {}
    static void end() {}
    static constexpr std::int64_t depth(std::int64_t dims) { return dims; }
    static constexpr std::int64_t roundings(std::int64_t dims) { return 2 * dims + 64; }
    static constexpr double smallest(std::int64_t dims) { return static_cast<double>(4 * dims + 64) * 0x1p-149; }

    template <Terms terms>
    static bool tile(const fused::TileInput& in, Tile& out) {
        bool any = false;
        for (int first = 0; first < kQueries; first += kRows)
            if (tile_of_group<terms>(in, first, out))
                any = true;
            else if constexpr (kGroups > 1)
                std::fill_n(out.wanted + first, kRows, std::uint64_t{0});
        return any;
    }

    template <Terms terms>
    __attribute__((ESPALIER_TARGET)) static void stream(const fused::StreamInput& in, float* sums, double* squares) {
        std::fill_n(sums, in.count * in.run, 0.0F);
        if constexpr (terms == Terms::dots) std::fill_n(squares, in.run, 0.0);
        add_from<terms, Vectors::kAttributes>(in, 0, sums, squares);
    }

    __attribute__((ESPALIER_TARGET)) static std::uint64_t within(const float* values, float limit) {
        std::uint64_t wanted = 0;
        for (int j = 0; j < 64; j += kLanes)
            wanted |= Vectors::bits(Vectors::wanted(Vectors::load(values + j), Vectors::all(limit))) << j;
        return wanted;
    }

    __attribute__((ESPALIER_TARGET)) static void cosines(float* dots, const double* squares, float length,
                                                         std::int64_t count) {
        fused::cosine_distances(dots, squares, length, count);
    }

    template <Terms terms>
    static void direct(const float* query, const float* const* points, std::int64_t step, std::int64_t dims,
                       float* sums) {
        fused::direct_sums<terms>(query, points, step, dims, sums);
    }

    __attribute__((ESPALIER_TARGET)) static std::int32_t bound(const std::int32_t* keys, std::size_t count,
                                                               std::int32_t wanted, std::int32_t enough) {
        return fused::bound_of(keys, count, wanted, enough);
    }

    template <Terms>
    __attribute__((ESPALIER_TARGET)) static void pack_queries(const fused::Slice& slice, const float* centre,
                                                              float scale, float* panel) {
        fused::pack_panel<kQueries>(slice, centre, scale, panel);
    }
    template <Terms>
    __attribute__((ESPALIER_TARGET)) static void pack_points(const fused::Slice& slice, const float* centre,
                                                             float* panel) {
        fused::pack_panel<kPoints>(slice, centre, 1.0F, panel);
    }

    __attribute__((ESPALIER_TARGET)) static void squares(const fused::Slice& slice, const float* centre, double* sums) {
        fused::sum_squares<kPoints>(slice, centre, sums);
    }

private:
    /// A tile's rows of queries from `first` on. False if nothing in them is of interest.
    template <Terms terms>
    __attribute__((ESPALIER_TARGET)) static bool tile_of_group(const fused::TileInput& in, int first, Tile& out) {
        Floats sums[kRows][kVectors];
#pragma GCC unroll 8
        for (int q = 0; q < kRows; ++q)
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v)
                sums[q][v] = terms == Terms::products ? Vectors::load(in.starts + kLanes * v) : Vectors::zero();
        const float* x = in.queries + first;
        const float* y = in.points;
        for (std::int64_t a = 0; a < in.dims; ++a, x += kQueries, y += kPoints) {
            Floats values[kVectors];
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v) values[v] = Vectors::load(y + kLanes * v);
#pragma GCC unroll 8
            for (int q = 0; q < kRows; ++q) {
                const Floats value = Vectors::all(x + q);
#pragma GCC unroll 3
                for (int v = 0; v < kVectors; ++v)
                    sums[q][v] = Vectors::template add<terms>(sums[q][v], value, values[v]);
            }
        }
        Wanted any = Vectors::none();
#pragma GCC unroll 8
        for (int q = 0; q < kRows; ++q) {
            const Floats limit = Vectors::all(in.limits + first + q);
            if constexpr (terms == Terms::products) {  // no NaN among them, which a minimum may lose
                Floats least = sums[q][0];
#pragma GCC unroll 3
                for (int v = 1; v < kVectors; ++v) least = Vectors::least_of(least, sums[q][v]);
                any = Vectors::either(any, Vectors::wanted(least, limit));
            } else {
#pragma GCC unroll 3
                for (int v = 0; v < kVectors; ++v) any = Vectors::either(any, Vectors::wanted(sums[q][v], limit));
            }
        }
        if (Vectors::is_none(any)) return false;
#pragma GCC unroll 8
        for (int q = 0; q < kRows; ++q) {
            const Floats limit = Vectors::all(in.limits + first + q);
            out.wanted[first + q] = 0;
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v) {
                Vectors::store(out.values[first + q] + kLanes * v, sums[q][v]);
                out.wanted[first + q] |= Vectors::bits(Vectors::wanted(sums[q][v], limit)) << (kLanes * v);
            }
        }
        return true;
    }

    /// All attributes from a on, so many at once as there are: a sum is read and written once for all of them.
    template <Terms terms, int kCount>
    __attribute__((ESPALIER_TARGET, always_inline)) static void add_from(const fused::StreamInput& in, std::int64_t a,
                                                                         float* sums, double* squares) {
        for (; a + kCount <= in.dims; a += kCount) add_attributes<terms, kCount>(in, a, sums, squares);
        if constexpr (kCount > 1) add_from<terms, kCount / 2>(in, a, sums, squares);
    }

    /// So many attributes of a run, from a on, to the sums of all queries. Those that come next, or the next run's
    /// first, are brought into the caches meanwhile: they are pages away, and nothing else would know of them.
    template <Terms terms, int kCount>
    __attribute__((ESPALIER_TARGET, always_inline)) static void add_attributes(const fused::StreamInput& in,
                                                                               std::int64_t a, float* sums,
                                                                               double* squares) {
        constexpr int kPerLine = 16, kSums = kPerLine / kLanes;
        const float* const points = in.points + a * in.step;
        const float* const next = a + 2 * kCount <= in.dims ? points + kCount * in.step : in.points + in.run;
        for (std::int64_t j = 0; j < in.run; j += kPerLine) {
            Floats values[kCount][kSums];
#pragma GCC unroll 8
            for (int i = 0; i < kCount; ++i)
#pragma GCC unroll 2
                for (int v = 0; v < kSums; ++v) {
                    const std::int64_t at = i * in.step + j + v * kLanes;
                    values[i][v] = Vectors::load(points + at);
                    if (v * kLanes % kPerLine == 0) _mm_prefetch(reinterpret_cast<const char*>(next + at), _MM_HINT_T0);
                }
            if constexpr (terms == Terms::dots)
#pragma GCC unroll 2
                for (int v = 0; v < kSums; ++v) {
                    auto square = Vectors::load(squares + j + v * kLanes);
#pragma GCC unroll 8
                    for (int i = 0; i < kCount; ++i) square = Vectors::add_square(square, values[i][v]);
                    Vectors::store(squares + j + v * kLanes, square);
                }
            const float* query = in.queries + a;
            for (float *sum = sums + j, *end = sum + in.count * in.run; sum != end; sum += in.run, query += in.dims) {
                Floats added[kSums];
#pragma GCC unroll 2
                for (int v = 0; v < kSums; ++v) added[v] = Vectors::load(sum + v * kLanes);
#pragma GCC unroll 8
                for (int i = 0; i < kCount; ++i) {
                    const Floats value = Vectors::all(query + i);
#pragma GCC unroll 2
                    for (int v = 0; v < kSums; ++v)
                        added[v] = Vectors::template add<terms>(added[v], value, values[i][v]);
                }
#pragma GCC unroll 2
                for (int v = 0; v < kSums; ++v) Vectors::store(sum + v * kLanes, added[v]);
            }
        }
    }
};

}  // namespace
}  // namespace espalier::knn
