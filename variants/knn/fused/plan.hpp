#pragma once

#include <algorithm>
#include <cstdint>

#include "variants/knn/chunk.hpp"
#include "variants/knn/fused/lists.hpp"
#include "variants/knn/fused/screen.hpp"
#include "variants/knn/fused/streaming.hpp"

/// How the fused pipelines cut a problem.
namespace espalier::knn::fused {

/// Whether nothing is compared: all queries then get what follows from no neighbours.
inline bool compares_nothing(const Problem& problem) {
    return problem.points == 0 || problem.k == 0 || problem.queries == 0;
}

/// Where the queries are.
inline const float* query_values(const Problem& problem, const Buffers& buffers) {
    return problem.queries_in == QueriesIn::host ? buffers.on_host.query_values : buffers.query_values;
}

/// What of a call does not depend on its values.
struct Plan {
    bool streamed;                      ///< points are read as they lie
    bool screened;                      ///< by expanded squares, if the values allow it
    bool packed;                        ///< all points are packed first, not by each task for itself
    bool read_once;                     ///< a task alone reads its points, and prepares them as it comes to them
    bool has_rows;                      ///< what passes the screen is compared with copies of the points, side by side
    std::int64_t panels;                ///< of points
    std::int64_t block, blocks, parts;  ///< blocks of queries times parts of the points

    template <class Kernel>
    static Plan of(const Problem& problem, std::int64_t threads) {
        constexpr std::int64_t kFewQueries = 32;  // of twice as many, packing the points pays
        constexpr std::int64_t kLeastDims = 3;    // of fewer, expanded squares save nothing
        Plan plan{};
        if (compares_nothing(problem)) return plan;
        plan.streamed = problem.queries <= kFewQueries && problem.points >= Runs::kWord;
        if (plan.streamed) return plan;
        plan.screened = (problem.metric == Metric::euclidean || problem.metric == Metric::cosine) &&
                        problem.dims >= kLeastDims && problem.dims <= kMostScreenedDims;
        plan.has_rows = plan.screened && Kernel::kCandidates * problem.queries * (problem.k + 8) > problem.points / 4;
        plan.panels = (problem.points + Kernel::kPoints - 1) / Kernel::kPoints;
        plan.cut<Kernel>(problem, threads);
        return plan;
    }

    /// What the sums of a tile start from, and as many spreads of rounded points.
    template <class Kernel>
    [[nodiscard]] std::int64_t start_floats() const {
        return screened ? (Kernel::kRounds ? 2 : 1) * rounded_up(panels * Kernel::kPoints, kLine) : 0;
    }
    /// The points' lengths.
    [[nodiscard]] static std::int64_t length_floats(const Problem& problem) {
        return problem.metric == Metric::cosine && !compares_nothing(problem) ? rounded_up(problem.points, kLine) : 0;
    }
    template <class Kernel>
    [[nodiscard]] std::int64_t panel_floats(std::int64_t dims) const {
        return packed ? panels * Kernel::kPoints * Kernel::depth(dims) : 0;
    }
    [[nodiscard]] std::int64_t row_floats(const Problem& problem) const {
        return has_rows ? problem.points * problem.dims : 0;
    }

private:
    /// Memory that a call touches first takes two or three times as long as packing what goes there, and packing a
    /// point as long as comparing it with 40 queries, or by a kernel of matrix instructions with hundreds: where few
    /// blocks read the points, each packs for itself.
    template <class Kernel>
    void cut(const Problem& problem, std::int64_t threads) {
        constexpr std::int64_t kPackedFloats = 2 << 20, kLargeBlock = 384, kManyThreads = 4;
        const bool few = problem.queries < 64 * threads;  // then the points are dealt to the threads
        const std::int64_t each = rounded_up((problem.queries + threads - 1) / threads, Kernel::kQueries);
        const std::int64_t large = most<Kernel>(problem, 256 << 10, 1024);
        packed = rounded_up(problem.points, Kernel::kPoints) * problem.dims <= kPackedFloats ||
                 each > Kernel::kFewBlocks * large ||
                 (!few && threads >= kManyThreads && std::min(each, large) < kLargeBlock);
        if (few) {
            block = std::min(rounded_up(problem.queries, Kernel::kQueries), large);
            parts = threads == 1 ? 1 : most_parts<Kernel>(problem, threads);
        } else {
            // A block's queries stay in the second-level cache while all points go by.
            const std::int64_t most_queries = packed ? most<Kernel>(problem, Kernel::kBlockFloats, 256) : large;
            const std::int64_t least = (problem.queries + most_queries - 1) / most_queries;
            const std::int64_t even = rounded_up(std::max(least, packed ? 2 * threads : threads), threads);
            block = rounded_up((problem.queries + even - 1) / even, Kernel::kQueries);
            parts = 1;
        }
        blocks = (problem.queries + block - 1) / block;
        read_once = !packed && blocks == 1;
    }

    /// Each part begins with empty lists, and all lists are kept to the end.
    template <class Kernel>
    [[nodiscard]] std::int64_t most_parts(const Problem& problem, std::int64_t threads) const {
        constexpr std::int64_t kListBytes = 32 << 20, kLeastPoints = 1024;
        const std::int64_t lists = problem.queries * list_capacity(problem.k * Kernel::kCandidates) * 8;
        const std::int64_t parts_that_pay = std::min(panels * Kernel::kPoints / kLeastPoints, kListBytes / lists);
        return std::clamp<std::int64_t>(parts_that_pay, 1, 4 * threads);
    }

    template <class Kernel>
    static std::int64_t most(const Problem& problem, std::int64_t floats, std::int64_t queries) {
        const std::int64_t fit = floats / std::max<std::int64_t>(problem.dims, 1);
        return std::clamp(fit - fit % Kernel::kQueries, std::int64_t{Kernel::kQueries} * 4, queries);
    }
};

}  // namespace espalier::knn::fused
