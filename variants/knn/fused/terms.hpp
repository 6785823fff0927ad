#pragma once

#include <array>
#include <cstdint>

/// What a kernel of the fused pipelines computes; each instruction set has its own.
namespace espalier::knn::fused {

/// What a tile adds up, attribute by attribute.
enum class Terms {
    products,    ///< x y, from a start of the point's: one multiply-add. The queries come multiplied by -2
    dots,        ///< x y, from zero
    squares,     ///< (x - y)^2, by a multiply-add
    magnitudes,  ///< |x - y|
    largest,     ///< |x - y|, of which the largest is kept
};

/// A kernel is a struct with
///   static constexpr int kQueries, kPoints   of a tile
///   static constexpr int kDirect             points that `direct` takes at once
///   template <Terms> static bool tile(const TileInput&, TileValues&)
///       false if every value is at or beyond its query's limit; else the values and which ones are not
///   template <Terms> static void stream(const StreamInput&, float* sums, double* squares)
///       what a tile adds up, of a run of points as they lie in their table: sums are queries x run; of `dots` the
///       squares of the points, too
///   static void cosines(...)             cosine_distances
///   static std::uint64_t within(const float* values, float limit)
///       which of 64 values are not at or beyond the limit
///   template <Terms> static void direct(const float* query, const float* const* points, std::int64_t step,
///                                       std::int64_t dims, float* sums)
///       squares or dots, as above, of any points: value a of point j is points[j][a * step]
///   static std::int32_t bound(...)               bound_of
///   static void squares(...)             sum_squares, of up to kPoints items
///   template <Terms> static void pack_queries(...), pack_points(...)   a panel of `tile`: pack_panel, or its own
///   static std::int64_t depth(dims)      so many numbers for each item of a panel
///   static std::int64_t roundings(dims)  how far a screened square may be off (screen.hpp), in units of 2^-24
///   static double smallest(dims)         and what underflow may take
///   static constexpr std::int64_t kFewBlocks, kBlockFloats
///       of queries: more blocks than that are worth packing the points for all, of so many numbers each
///   static constexpr std::int64_t kCandidates
///       points, about, that the screen leaves for each neighbour
///   static constexpr bool kRounds        whether `products` are of rounded items. Then all points are packed, and
///   static void round_queries(...), round_points(const Slice&, const float* centre, float* panel, Rounded&)
///       take the place of pack_queries and pack_points
///   static void begin(), end()           around a thread's tiles
/// All forms of one term add up in the order of the attributes, so that they give the same.
struct TileInput {
    const float* queries;  ///< dims x kQueries
    const float* points;   ///< dims x kPoints
    const float* starts;   ///< kPoints; of `products`
    std::int64_t dims;
    const float* limits;  ///< kQueries; a value is of interest unless it is at or beyond it
};

template <int kQueries, int kPoints>
struct TileValues {
    alignas(64) float values[kQueries][kPoints];
    std::uint64_t wanted[kQueries];  ///< bit j: the value of point j is of interest
};

/// Of a panel's items.
struct Rounded {
    std::array<double, 64> squares;    ///< of their norms
    std::array<double, 64> residuals;  ///< of the norms of what rounding took away, or more
};

struct StreamInput {
    const float* queries;  ///< count x dims
    const float* points;   ///< the first of the run: attribute a at [a * step]
    std::int64_t count;    ///< of queries
    std::int64_t run;      ///< points, a multiple of 64
    std::int64_t step, dims;
};

}  // namespace espalier::knn::fused
