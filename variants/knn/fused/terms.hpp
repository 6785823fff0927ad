#pragma once

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
///   static constexpr int kStream             points that `stream` takes at once, at most 64 x kStreamWords
///   static constexpr int kDirect             points that `direct` takes at once
///   template <Terms> static bool tile(const TileInput&, TileValues&)
///       false if every value is at or beyond its query's limit; else the values and which ones are not
///   template <Terms> static void stream(const StreamInput&, StreamValues&)
///       the same for one query, points as they lie in their table. Of `dots` the limit is a cosine distance, and what
///       is of interest goes by lengths in single precision: all whose squares are not within the two bounds below
///   template <Terms> static void direct(const float* query, const float* const* points, std::int64_t step,
///                                       std::int64_t dims, float* sums)
///       squares or dots, as above, of any points: value a of point j is points[j][a * step]
///   static std::int32_t bound(...)               bound_of
///   template <int kWidth> static void pack(...), squares(...)   pack_panel, sum_squares
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

struct StreamInput {
    const float* query;   ///< dims
    const float* points;  ///< the first of the points: attribute a at [a * step]
    std::int64_t step, dims;
    float limit;
    float length = 0;  ///< of `dots`: the query's
};

inline constexpr int kStreamWords = 2;

/// Squares of lengths in single precision that lose nothing to underflow and do not overflow.
inline constexpr float kLeastSquare = 0x1p-80F, kMostSquare = 0x1p120F;

template <int kPoints>
struct StreamValues {
    alignas(64) float values[kPoints];
    std::uint64_t wanted[kStreamWords];
};

}  // namespace espalier::knn::fused
