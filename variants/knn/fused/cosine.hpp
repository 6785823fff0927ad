#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "variants/knn/fused/lists.hpp"
#include "variants/knn/fused/panels.hpp"

/// Cosine distances: 1 - xy / (|x| |y|), and 1 where an item has no length. The product is a chain of multiply-adds in
/// the order of the attributes, lengths are those of sums in double precision.
namespace espalier::knn::fused {

inline float cosine_distance(float dot, float length, float other) {
    const float lengths = length * other;
    const float distance = lengths == 0 ? 1.0F : 1.0F - dot / lengths;
    return distance < 0 ? 0.0F : distance;
}

/// The lengths of those of the slice's items that `wanted` has a bit for: all from the first to the last one if they
/// are many, since one alone reads as much memory as the 16 items beside it.
template <class Kernel>
void measure_wanted(const Slice& slice, std::uint64_t wanted, const float* origin, float* lengths) {
    constexpr int kFew = 8;
    if (std::popcount(wanted) > kFew) {
        const int first = std::countr_zero(wanted), count = 64 - std::countl_zero(wanted) - first;
        return measure_lengths<Kernel>(slice.part(first, count), origin, lengths + first);
    }
    for (; wanted; wanted &= wanted - 1) {
        const int j = std::countr_zero(wanted);
        const float* const item = slice.attribute(0) + j;
        double square = 0;
        for (std::int64_t a = 0; a < slice.dims; ++a) {
            const auto value = static_cast<double>(item[a * slice.items]);
            square += value * value;
        }
        lengths[j] = static_cast<float>(std::sqrt(square));
    }
}

/// How far a distance by lengths in single precision, each a chain of multiply-adds, is from the one by those above.
inline float off_by_lengths(std::int64_t dims) { return static_cast<float>(dims + 16) * 0x1p-24F * 1.02F; }

/// Lengths whose products neither overflow nor lose anything to underflow; what has others is not screened.
inline bool length_may_be_screened(float length) { return length == 0 || (length >= 0x1p-40F && length <= 0x1p60F); }

/// The lengths of the slice's items. `origin`: a zero for each attribute.
template <class Kernel>
void measure_lengths(const Slice& slice, const float* origin, float* lengths) {
    std::array<double, Kernel::kPoints> squares{};
    for (std::int64_t first = 0; first < slice.count; first += Kernel::kPoints) {
        const Slice panel = slice.part(first, Kernel::kPoints);
        Kernel::template squares<Kernel::kPoints>(panel, origin, squares.data());
        for (std::int64_t j = 0; j < panel.count; ++j)
            lengths[first + j] = static_cast<float>(std::sqrt(squares[static_cast<std::size_t>(j)]));
    }
}

/// For tiles of dots, whose limits depend on the points' lengths: every value is of interest, and becomes a distance
/// here.
template <class Kernel>
class CosineLists {
public:
    CosineLists(std::int64_t queries, std::int64_t k, const float* query_lengths, const float* point_lengths)
        : nearest_(queries, k, false),
          none_(static_cast<std::size_t>(queries + kMostQueriesAtOnce), std::numeric_limits<float>::quiet_NaN()),
          query_lengths_(query_lengths),
          point_lengths_(point_lengths) {}

    [[nodiscard]] const float* limits() const { return none_.data(); }
    /// What is at or beyond it by lengths in single precision is none of the query's nearest; NaN, below which
    /// everything is, of queries that are too short or too long for them.
    [[nodiscard]] float most_distance(std::size_t i, std::int64_t dims) const {
        const bool usual = query_lengths_[i] > 0 && length_may_be_screened(query_lengths_[i]);
        return usual ? nearest_.limits()[i] + off_by_lengths(dims) : none_.front();
    }
    [[nodiscard]] float query_length(std::size_t i) const { return query_lengths_[i]; }

    void offer(std::size_t i, float dot, std::int64_t point) {
        const float distance = cosine_distance(dot, query_lengths_[i], point_lengths_[point]);
        if (smallest_k::may_come_before(distance, nearest_.limits()[i])) nearest_.offer(i, distance, point);
    }

    void finish(std::size_t) {}

    void entries(std::size_t i, std::vector<std::uint64_t>& to) const { nearest_.entries(i, to); }

private:
    ExactLists<Kernel> nearest_;
    std::vector<float> none_;
    const float* query_lengths_;
    const float* point_lengths_;
};

}  // namespace espalier::knn::fused
