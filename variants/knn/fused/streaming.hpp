#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "variants/knn/fused/cosine.hpp"
#include "variants/knn/fused/lists.hpp"
#include "variants/knn/fused/panels.hpp"
#include "variants/knn/fused/terms.hpp"

/// A handful of queries against the points as they lie in their table, attribute by attribute. Memory sets the time, so
/// a run of points is a few pages of each attribute, whose sums stay in the first-level cache meanwhile: 128 points at
/// a time, a few lines of each page, took half as long again.
namespace espalier::knn::fused {

/// Offers the values of interest of one query to its list.
template <class L>
void offer_all(L& lists, std::size_t i, const float* values, std::uint64_t wanted, std::int64_t first_point) {
    for (; wanted; wanted &= wanted - 1) {
        const int j = std::countr_zero(wanted);
        if (smallest_k::may_come_before(values[j], lists.limits()[i])) lists.offer(i, values[j], first_point + j);
    }
}

/// How the points are cut into runs.
struct Runs {
    std::int64_t points, size, count;

    /// Of at most so many sums, and so that each thread gets several.
    static Runs of(std::int64_t points, std::int64_t queries, std::int64_t threads) {
        constexpr std::int64_t kSums = 4096, kRunsEach = 4;
        const std::int64_t even = points / (kRunsEach * threads);
        const std::int64_t size = std::max(kWord, std::min(kSums / queries, even) / kWord * kWord);
        return {points, size, (points + size - 1) / size};
    }

    /// Points are told apart by the bits of so long a word.
    static constexpr std::int64_t kWord = 64;
};

/// Side by side.
struct StreamedQueries {
    const float* values;
    const float* lengths;  ///< of dots
    std::int64_t count;
};

/// One thread's part of the work. `lists` are those of all queries, for the values of terms; of dots for distances.
template <class Kernel, Terms terms, class L>
class Streaming {
public:
    Streaming(const Slice& points, const Runs& runs, const StreamedQueries& queries, L& lists)
        : points_(points),
          runs_(runs),
          queries_(queries),
          lists_(lists),
          sums_(queries.count * runs.size),
          squares_(terms == Terms::dots ? runs.size : 0) {}

    void run(std::int64_t number) {
        const std::int64_t first = number * runs_.size;
        const std::int64_t words = (std::min(runs_.size, runs_.points - first) + Runs::kWord - 1) / Runs::kWord;
        // The last run begins early enough to be whole words: of it only those points that nobody has seen.
        const std::int64_t begin = std::min(first, runs_.points - words * Runs::kWord);
        const std::int64_t run = words * Runs::kWord;
        Kernel::template stream<terms>(
            {queries_.values, points_.values + begin, queries_.count, run, points_.items, points_.dims}, sums_.data(),
            squares_.data());
        for (std::int64_t q = 0; q < queries_.count; ++q) {
            float* const sums = sums_.data() + q * run;
            if constexpr (terms == Terms::dots) Kernel::cosines(sums, squares_.data(), queries_.lengths[q], run);
            for (std::int64_t j = 0; j < run; j += Runs::kWord) {
                const std::uint64_t fresh = ~std::uint64_t{0} << (j == 0 ? first - begin : 0);
                const auto i = static_cast<std::size_t>(q);
                offer_all(lists_, i, sums + j, Kernel::within(sums + j, lists_.limits()[i]) & fresh, begin + j);
            }
        }
    }

private:
    Slice points_;
    Runs runs_;
    StreamedQueries queries_;
    L& lists_;
    Lines<float> sums_;
    Lines<double> squares_;
};

}  // namespace espalier::knn::fused
