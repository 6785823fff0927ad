#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "variants/knn/few_search.hpp"
#include "variants/knn/screened_bound.hpp"

/// What products of split numbers can and cannot say of a distance.
///
/// A number x is h + l + r: h the nearest bfloat16 number, l the one nearest to what is left, so that |l| <= 2^-8 |x|
/// and |r| <= 2^-16 |x|. Of the product of two numbers tensor cores add up h h', h l' and l h'; what they leave out is
/// less than 3.02 * 2^-16 |x x'|, and a difference from a centre is rounded once. Their sums are off by at most 40
/// units in the last place an instruction, as screened_bound.hpp has it, and 3 instructions follow each other before a
/// sum in single precision takes them up. By Cauchy and Schwarz all this is a share of |q| |p|, which is at most
/// (|q|^2 + |p|^2) / 2.
namespace espalier::knn::few {

inline constexpr int kStepAttributes = 16;  ///< that are multiplied before their sums are taken up

/// The error of a product of a query and a point as a share of |q| |p|.
constexpr double product_error(std::int64_t dims) {
    const double sums = static_cast<double>(divided_up(dims, kStepAttributes));
    return 1.01 * (3 * 40 * 0x1p-23 + 3.02 * 0x1p-16 + (sums + 4) * 0x1p-24);
}

/// The error of |p|^2 - 2 q p as a share of |q|^2 + |p|^2: of the products, of a norm that four lanes add up, and of
/// the last roundings.
constexpr double square_error(std::int64_t dims) {
    return product_error(dims) + 1.01 * static_cast<double>(dims / 4 + 16) * 0x1p-24;
}

/// The error of q p / |p| as a share of |q|.
constexpr double cosine_error(std::int64_t dims) {
    return product_error(dims) + 1.01 * static_cast<double>(dims / 8 + 16) * 0x1p-24;
}

/// By how much the cosine distance that single precision adds up term by term may be below the true one: its sums are
/// off by dims units each, norms half of that, and the quotient is little above 1.
constexpr double direct_cosine_error(std::int64_t dims) { return static_cast<double>(2 * dims + 32) * 0x1p-24; }

/// Squares smaller than this have lost bits to underflow, and the shares above do not hold.
inline constexpr float kLeastSquare = 0x1p-80F;

/// Points of a list, most of them only near the k-th: with so many more, what is not in it is surely farther unless
/// points lie closer together than products can tell.
constexpr std::int32_t kept_for(std::int64_t k) { return static_cast<std::int32_t>(divided_up(k + 16, 32) * 32); }

/// Whether every point outside of a list is farther, as single precision adds up distances term by term, than `kth`.
/// `value`: what the last of the list has, -|p| cos or |p|^2 (1 - error) - 2 q p. `square` is the query's.
template <Metric metric>
constexpr bool surely_farther(double value, double square, double kth_sum, double kth, std::int64_t dims) {
    if constexpr (metric == Metric::cosine) {
        if (!(square >= kLeastSquare && square < 0x1p100)) return false;
        return 1 + value / std::sqrt(square) - cosine_error(dims) - direct_cosine_error(dims) > kth;
    } else {
        const double least = value + square * (1 - square_error(dims)) - static_cast<double>(dims) * 0x1p-118;
        return surely_above(least, kth_sum, 1, dims);
    }
}

/// Queries that are given up are searched for by groups of 8, of which a multiprocessor has two blocks, or, where they
/// are many, of 32, of which it has one.
inline constexpr int kGroup = 8, kLargeGroup = 32, kWideTile = 4 * kThreads;

/// Whether the slices of those given up, where one group of them has `slices`, fill wide tiles.
constexpr bool is_wide(std::int64_t points, std::int64_t slices, std::int64_t groups) {
    return divided_up(points, std::max<std::int64_t>(slices / groups, 1)) >= 2 * kWideTile;
}

/// How the search for some that are given up is cut.
struct GivenUpCut {
    int each, per_thread;         ///< queries of a block, points of a thread at once
    std::int64_t groups, slices;  ///< of the points, for all groups together
};

/// For `queries` of them, where groups of 8 have `slices`.
constexpr GivenUpCut cut_of_given_up(std::int64_t queries, std::int64_t points, std::int64_t slices,
                                     bool may_be_large) {
    if (const std::int64_t large = divided_up(queries, kLargeGroup);
        may_be_large && queries > 2 * kGroup && is_wide(points, slices / 2, large))
        return {kLargeGroup, 4, large, slices / 2};
    const std::int64_t groups = std::max<std::int64_t>(divided_up(queries, kGroup), 1);
    return {kGroup, is_wide(points, slices, groups) ? 4 : 1, groups, slices};
}

inline constexpr int kScreened = 32;  ///< queries of a block
inline constexpr std::int64_t kMostScreened = 16'384;
inline constexpr int kLongestKept = kept_for(kLongestList);

/// What a lane multiplies by of a query in a step: of every fourth attribute the nearest numbers, and those nearest to
/// what they leave.
struct alignas(16) SplitNumbers {
    std::uint16_t nearest[4], rest[4];
};

/// Of a query. Once every slice has reported a key that `reported_rank` of its points do not exceed, as many points as
/// the query's list keeps do not exceed the largest of these keys.
struct SharedBound {
    std::uint32_t key;
    std::int32_t reports;
};

/// The points of a slice that a report is about.
constexpr std::int32_t reported_rank(std::int32_t kept, std::int64_t slices) {
    return static_cast<std::int32_t>(divided_up(kept, slices));
}

// A block's shared memory. Two of its warps' queries take turns in rows of values, one for each warp. A warp copies its
// points' attributes ahead, a step's to a stage.
inline constexpr int kScreenWarps = 16, kScreenThreads = 32 * kScreenWarps;
inline constexpr int kRowStride = kScreenThreads + 8;  ///< lanes that store together meet no bank twice
inline constexpr int kStageFloats = kStepAttributes * 32, kMostStages = 3;
inline constexpr std::size_t kRowBytes = std::size_t{kScreenWarps} * kRowStride * sizeof(float);
inline constexpr std::size_t kSelectionBytes = std::size_t{kScreened} * 65 * sizeof(std::uint64_t);
constexpr std::size_t list_bytes(std::int64_t kept) { return static_cast<std::size_t>(kScreened * kept * 8); }
constexpr std::size_t screen_bytes(std::int64_t kept, int stages) {
    return kRowBytes + list_bytes(kept) + std::size_t{kScreenWarps} * kStageFloats * sizeof(float) * stages;
}
/// As many stages as there is room for; two at least.
constexpr int stages_for(std::int64_t kept, std::size_t shared_by_block) {
    return screen_bytes(kept, kMostStages) + kSelectionBytes <= shared_by_block ? kMostStages : 2;
}

inline constexpr int kDirectChunk = 128;  ///< attributes of listed points in shared memory at once

/// What the screened search keeps in the workspace, in bytes from its start.
struct ScreenLayout {
    std::int64_t groups;
    PointSlices slices;
    FewCut direct;  ///< of eight queries that the screen gives up; of more the slices are fewer
    std::int32_t kept, length;
    int stages;
    std::size_t given_up, parts, bounds, entries, centre, split, lists, bytes;  ///< `given_up`: their number and they

    ScreenLayout(const Problem& problem, const DeviceInfo& device)
        : groups(divided_up(problem.queries, kScreened)),
          slices(problem.points, std::int64_t{std::max(device.sm_count, 1)} / std::max<std::int64_t>(groups, 1),
                 kScreenThreads),
          direct(eight_at_most(problem), device, kGroup),
          kept(kept_for(problem.k)),
          length(static_cast<std::int32_t>(divided_up(problem.k, 32) * 32)),
          stages(stages_for(kept, device.shared_per_block_optin)),
          given_up(problem.queries_in == QueriesIn::host ? aligned(problem.queries * problem.dims * 4) : 0),
          parts(given_up + aligned((problem.queries + 1) * 4)),
          bounds(parts + aligned(listed(problem) * 4)),
          entries(bounds + aligned(listed(problem) * static_cast<std::int64_t>(sizeof(SharedBound)))),
          centre(entries + aligned(listed(problem) * kept * 8)),
          split(centre + aligned(whole_steps(problem.dims) * 4)),
          lists(split + aligned(divided_up(listed(problem), kScreened) * kScreened * whole_steps(problem.dims) * 4)),
          bytes(lists + std::max(aligned(slices.count * listed(problem) * kept * 8),
                                 aligned(direct.slices * listed(problem) * length * 8))) {}

    static constexpr std::int64_t whole_steps(std::int64_t dims) {
        return divided_up(dims, kStepAttributes) * kStepAttributes;
    }
    [[nodiscard]] static std::int64_t direct_groups(const Problem& problem) {
        return divided_up(problem.queries, kGroup);
    }

private:
    /// Of more queries than a search supports nobody needs the lists.
    static std::int64_t listed(const Problem& problem) { return std::min(problem.queries, kMostQueries); }
    static Problem eight_at_most(Problem problem) {
        problem.queries = std::min<std::int64_t>(problem.queries, kGroup);
        return problem;
    }
    static constexpr std::size_t aligned(std::int64_t bytes) {
        return (static_cast<std::size_t>(bytes) + 511) / 512 * 512;
    }
};

}  // namespace espalier::knn::few
