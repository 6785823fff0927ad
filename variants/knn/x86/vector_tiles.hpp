#pragma once

#include <cstddef>
#include <cstdint>

#include "variants/knn/fused/pipeline.hpp"
#include "variants/knn/x86/direct_sums.hpp"

#ifndef ESPALIER_TARGET
#error "the file that includes this names its instruction set: target(...)"
#endif

namespace espalier::knn {
namespace {

using fused::Terms;

/// The tiles of fused/pipeline.hpp with the vectors of one instruction set, ESPALIER_TARGET: `kQueries` x three vectors
/// of points. `Vectors` has the instructions for `kLanes` numbers (`Floats`) and for which of them are wanted
/// (`Wanted`).
template <class Vectors>
struct VectorTiles {
    static constexpr int kLanes = Vectors::kLanes, kVectors = 3;
    static constexpr int kQueries = Vectors::kQueries, kPoints = kVectors * kLanes, kStream = 8 * kLanes;
    static constexpr int kDirect = fused::kDirect;
    using Tile = fused::TileValues<kQueries, kPoints>;
    using Stream = fused::StreamValues<kStream>;
    using Floats = typename Vectors::Floats;
    using Wanted = typename Vectors::Wanted;

    template <Terms terms>
    __attribute__((ESPALIER_TARGET)) static bool tile(const fused::TileInput& in, Tile& out) {
        Floats sums[kQueries][kVectors];
#pragma GCC unroll 8
        for (int q = 0; q < kQueries; ++q)
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v)
                sums[q][v] = terms == Terms::products ? Vectors::load(in.starts + kLanes * v) : Vectors::zero();
        const float* x = in.queries;
        const float* y = in.points;
        for (std::int64_t a = 0; a < in.dims; ++a, x += kQueries, y += kPoints) {
            const Floats y0 = Vectors::load(y), y1 = Vectors::load(y + kLanes), y2 = Vectors::load(y + 2 * kLanes);
#pragma GCC unroll 8
            for (int q = 0; q < kQueries; ++q) {
                const Floats value = Vectors::all(x + q);
                sums[q][0] = Vectors::template add<terms>(sums[q][0], value, y0);
                sums[q][1] = Vectors::template add<terms>(sums[q][1], value, y1);
                sums[q][2] = Vectors::template add<terms>(sums[q][2], value, y2);
            }
        }
        Wanted any = Vectors::none();
#pragma GCC unroll 8
        for (int q = 0; q < kQueries; ++q) {
            const Floats limit = Vectors::all(in.limits + q);
            if constexpr (terms == Terms::products) {  // no NaN among them, which a minimum may lose
                const Floats least = Vectors::least_of(Vectors::least_of(sums[q][0], sums[q][1]), sums[q][2]);
                any = Vectors::either(any, Vectors::wanted(least, limit));
            } else {
#pragma GCC unroll 3
                for (int v = 0; v < kVectors; ++v) any = Vectors::either(any, Vectors::wanted(sums[q][v], limit));
            }
        }
        if (Vectors::is_none(any)) return false;
#pragma GCC unroll 8
        for (int q = 0; q < kQueries; ++q) {
            const Floats limit = Vectors::all(in.limits + q);
            out.wanted[q] = 0;
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v) {
                Vectors::store(out.values[q] + kLanes * v, sums[q][v]);
                out.wanted[q] |= Vectors::bits(Vectors::wanted(sums[q][v], limit)) << (kLanes * v);
            }
        }
        return true;
    }

    template <Terms terms>
    __attribute__((ESPALIER_TARGET)) static void stream(const fused::StreamInput& in, Stream& out) {
        constexpr int kGroups = kStream / kLanes, kPerWord = 64 / kLanes, kPerLine = 16 / kLanes;
        Floats sums[kGroups], squares[kGroups];
#pragma GCC unroll 8
        for (int v = 0; v < kGroups; ++v) sums[v] = squares[v] = Vectors::zero();
        const float* y = in.points;
        for (std::int64_t a = 0; a < in.dims; ++a, y += in.step) {
            const Floats value = Vectors::all(in.query + a);
#pragma GCC unroll 8
            for (int v = 0; v < kGroups; ++v) {
                const Floats values = Vectors::load(y + kLanes * v);
                sums[v] = Vectors::template add<terms>(sums[v], value, values);
                if constexpr (terms == Terms::dots)
                    squares[v] = Vectors::template add<terms>(squares[v], values, values);
                // The next points are many attributes away: nothing else would know of them.
                if (v % kPerLine == 0)
                    _mm_prefetch(reinterpret_cast<const char*>(y + kStream + kLanes * v), _MM_HINT_T0);
            }
        }
        const Floats limit = Vectors::all(in.limit);
        for (std::uint64_t& word : out.wanted) word = 0;
#pragma GCC unroll 8
        for (int v = 0; v < kGroups; ++v) {
            Vectors::store(out.values + kLanes * v, sums[v]);
            const Wanted wanted =
                terms == Terms::dots ? near(sums[v], squares[v], in.length, limit) : Vectors::wanted(sums[v], limit);
            out.wanted[v / kPerWord] |= Vectors::bits(wanted) << (v % kPerWord * kLanes);
        }
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

    template <int kWidth>
    __attribute__((ESPALIER_TARGET)) static void pack(const fused::Slice& slice, const float* centre, float scale,
                                                      float* panel) {
        fused::pack_panel<kWidth>(slice, centre, scale, panel);
    }

    template <int kWidth>
    __attribute__((ESPALIER_TARGET)) static void squares(const fused::Slice& slice, const float* centre, double* sums) {
        fused::sum_squares<kWidth>(slice, centre, sums);
    }

private:
    /// Cosine distances below the limit, and what is too short or too long to tell.
    __attribute__((ESPALIER_TARGET, always_inline)) static Wanted near(Floats dots, Floats squares, float length,
                                                                       Floats limit) {
        const Floats distances = Vectors::cosine(dots, squares, Vectors::all(length));
        const Wanted odd = Vectors::either(Vectors::wanted(squares, Vectors::all(fused::kLeastSquare)),
                                           Vectors::wanted(Vectors::all(fused::kMostSquare), squares));
        return Vectors::either(Vectors::wanted(distances, limit), odd);
    }
};

}  // namespace
}  // namespace espalier::knn
