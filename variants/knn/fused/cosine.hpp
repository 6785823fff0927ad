#pragma once

#include <algorithm>
#include <array>
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
    const float distance = 1.0F - dot / lengths;
    if (lengths == 0) return 1.0F;
    return distance < 0 ? 0.0F : distance;
}

/// Dots of a query, as long as `length`, become its distances from items of which the squares of the lengths are given.
[[gnu::always_inline]] inline void cosine_distances(float* dots, const double* squares, float length,
                                                    std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j)
        dots[j] = cosine_distance(dots[j], length, static_cast<float>(std::sqrt(squares[j])));
}

/// Lengths whose products neither overflow nor lose anything to underflow; what has others is not screened.
inline bool length_may_be_screened(float length) { return length == 0 || (length >= 0x1p-40F && length <= 0x1p60F); }

/// The lengths of the slice's items. `origin`: a zero for each attribute.
template <class Kernel>
void measure_lengths(const Slice& slice, const float* origin, float* lengths) {
    std::array<double, Kernel::kPoints> squares{};
    for (std::int64_t first = 0; first < slice.count; first += Kernel::kPoints) {
        const Slice panel = slice.part(first, Kernel::kPoints);
        Kernel::squares(panel, origin, squares.data());
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
