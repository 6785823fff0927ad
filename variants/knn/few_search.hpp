#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/core/variant.hpp"
#include "kernels/problems/knn.hpp"
#include "variants/knn/fused_search.hpp"

/// How the search of few queries is cut. A block has a group of queries and a slice of the points, which it reads once;
/// every slice leaves a sorted list per query.
namespace espalier::knn::few {

inline constexpr int kThreads = 256;
inline constexpr int kLongestList = 128;
inline constexpr std::int64_t kMostQueries = 128;

/// Blocks of a multiprocessor at once, as their registers allow.
constexpr int blocks_per_sm(int each) { return each >= 32 ? 1 : each >= 8 ? 2 : 3; }

/// The points cut into slices: of whole tiles, or of whole warps where a part of a tile is little.
struct PointSlices {
    std::int64_t share, count;  ///< the last has what is left

    constexpr PointSlices(std::int64_t points, std::int64_t most, std::int64_t tile) {
        constexpr std::int64_t kWarp = 32;
        const std::int64_t least = divided_up(points, std::max<std::int64_t>(most, 1));
        const std::int64_t unit = least >= 3 * tile ? kWarp : tile;
        share = std::max<std::int64_t>(divided_up(least, unit), 1) * unit;
        count = std::max<std::int64_t>(divided_up(points, share), 1);
    }
};

struct FewCut {
    std::int64_t groups, slices = 1;
    std::int64_t share = 0;  ///< points of a slice; the last has what is left
    int each;                ///< queries of a block
    int per_thread;          ///< points of a thread at once

    FewCut(const Problem& problem, const DeviceInfo& device, int wanted)
        : groups(divided_up(problem.queries, wanted)),
          each(problem.queries == 1 ? 1 : wanted),
          per_thread(problem.missing == Missing::allowed || reads_types(problem) ? 1 : kPerThread) {
        const std::int64_t at_once = std::int64_t{std::max(device.sm_count, 1)} * blocks_per_sm(each);
        const std::int64_t most = problem.points <= kOneSlice ? 1 : at_once / std::max<std::int64_t>(groups, 1);
        // Of two wide tiles a slice fills the second one badly.
        const std::int64_t wide = std::int64_t{kThreads} * kPerThread;
        if (each <= 8 && divided_up(problem.points, std::max<std::int64_t>(most, 1)) < 2 * wide) per_thread = 1;
        const PointSlices cut(problem.points, most, std::int64_t{kThreads} * per_thread);
        share = cut.share, slices = cut.count;
    }

    [[nodiscard]] std::int64_t blocks() const { return groups * slices; }

private:
    static constexpr int kPerThread = 4;
    /// Types in a texture take registers that more points would need.
    static constexpr bool reads_types(const Problem& problem) {
        return problem.metric == Metric::mixed_euclidean && problem.dims > kTypesInParameters;
    }
    static constexpr std::int64_t kTypesInParameters = 16'384;
    /// So few points are one slice, whose block votes: another launch takes longer than a block's second tile.
    static constexpr std::int64_t kOneSlice = 512;
};

/// What the search keeps in the workspace, in bytes from its start.
struct FewLayout {
    FewCut cut;
    std::int32_t length;  ///< of a list: k, rounded up to whole warps
    std::size_t lists, bytes;

    FewLayout(const Problem& problem, const DeviceInfo& device, int each)
        : cut(problem, device, each),
          length(static_cast<std::int32_t>(divided_up(problem.k, 32) * 32)),
          lists(problem.queries_in == QueriesIn::host ? aligned(problem.queries * problem.dims * 4) : 0),
          bytes(lists + (cut.slices > 1 ? aligned(cut.slices * problem.queries * length * 8) : 0)) {}

private:
    static constexpr std::size_t aligned(std::int64_t bytes) {
        return (static_cast<std::size_t>(bytes) + 511) / 512 * 512;
    }
};

}  // namespace espalier::knn::few
