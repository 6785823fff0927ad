#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include "kernels/core/variant.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/problems/knn.hpp"

/// How a search that never writes the matrix of distances is cut into the work of blocks. A block holds a tile of
/// queries and walks over tiles of points: over all of them, or over a slice where there are too few tiles of queries
/// to fill the device. Every slice leaves a sorted list per query.
namespace espalier::knn {

constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The tiles of points in the order in which they are visited. Steps of the golden section instead of one after the
/// other: were the points sorted from far to near, every tile would have k new candidates. In this order the nearest so
/// far is beaten about as often as in a random one, whatever the points are sorted by.
struct Walk {
    std::int32_t tiles, step;

    explicit constexpr Walk(std::int64_t number_of_tiles)
        : tiles(static_cast<std::int32_t>(number_of_tiles)),
          step(static_cast<std::int32_t>(static_cast<double>(number_of_tiles) * 0.6180339887)) {
        step = std::max(step, 1);
        while (std::gcd(step, tiles) != 1 && tiles > 1) ++step;
    }

    [[nodiscard]] constexpr std::int32_t tile_at(std::int64_t position) const {
        return tiles == 0 ? 0 : static_cast<std::int32_t>(position * step % tiles);
    }
    [[nodiscard]] constexpr std::int32_t after(std::int32_t tile) const {
        const std::int64_t next = std::int64_t{tile} + step;
        return static_cast<std::int32_t>(next >= tiles ? next - tiles : next);
    }
};

/// Numbers of tiles and slices.
struct Cut {
    std::int64_t query_tiles, slices;

    [[nodiscard]] constexpr std::int64_t items() const { return query_tiles * slices; }

    /// As even a load for `sms` multiprocessors as can be had. The start of a slice's lists costs as much as `start`
    /// tiles, and a multiprocessor with a single block takes a quarter more time.
    static constexpr Cut of(std::int64_t query_tiles, std::int64_t point_tiles, std::int64_t sms, std::int64_t start) {
        constexpr std::int64_t kMost = 512;
        Cut best{query_tiles, 1};
        double least = 0;
        for (std::int64_t slices = 1; slices <= std::min(std::max<std::int64_t>(point_tiles, 1), kMost); ++slices) {
            const std::int64_t rounds = divided_up(query_tiles * slices, sms);
            const double alone = rounds == 1 ? 1.25 : 1.0;
            const double cost = static_cast<double>(rounds * (divided_up(point_tiles, slices) + start)) * alone;
            if (slices == 1 || cost < least) best.slices = slices, least = cost;
        }
        return best;
    }
};

/// Throws DeviceError (out of memory) if the workspace is smaller than what `workspace()` asked for.
inline void check_workspace(const Context& context, std::size_t bytes) {
    if (context.workspace.size() < bytes)
        throw device::DeviceError("the search needs " + std::to_string(bytes) + " bytes of workspace, given are " +
                                      std::to_string(context.workspace.size()),
                                  2);
}

/// Where the lists of a chunk's queries end up, as `smallest_k` writes them.
struct FoundLists {
    float* distances;       ///< k x queries
    std::int32_t* indices;  ///< k x queries
};

/// What a search keeps in the workspace, in bytes from its start. The queries are cut into chunks so that it is not
/// more than the budget, or little more.
struct FusedLayout {
    std::int64_t tile, point_tiles, chunk;
    std::int64_t start;   ///< what lists cost at first, in tiles of this many attributes
    std::int32_t length;  ///< of a list: k, rounded up to whole warps
    std::size_t lists, distances, indices, bytes;

    FusedLayout(const Problem& problem, const DeviceInfo& device, std::int64_t items_of_a_tile)
        : tile(items_of_a_tile),
          point_tiles(divided_up(problem.points, tile)),
          start(1 + 64 / std::max<std::int64_t>(problem.dims, 8)),
          length(static_cast<std::int32_t>(divided_up(problem.k, 32) * 32)) {
        const std::int64_t per_query = (length + problem.k) * 8 + 1;
        chunk = std::min(problem.queries, std::max<std::int64_t>(kBudget / per_query / tile, 1) * tile);
        lists = problem.queries_in == QueriesIn::host ? aligned(problem.queries * problem.dims * 4) : 0;
        // Fewer queries may have more slices.
        const std::int64_t last = chunk > 0 && problem.queries % chunk > 0 ? problem.queries % chunk : chunk;
        const std::int64_t items = std::max(cut(chunk, device).items(), cut(last, device).items());
        distances = lists + aligned(items * tile * length * 8);
        indices = distances + aligned(chunk * problem.k * 4);
        bytes = indices + aligned(chunk * problem.k * 4);
    }

    [[nodiscard]] Cut cut(std::int64_t queries, const DeviceInfo& device) const {
        return Cut::of(divided_up(queries, tile), point_tiles, std::max(device.sm_count, 1), start);
    }
    [[nodiscard]] FoundLists found(std::byte* memory) const {
        return {reinterpret_cast<float*>(memory + distances), reinterpret_cast<std::int32_t*>(memory + indices)};
    }

private:
    static constexpr std::int64_t kBudget = std::int64_t{1} << 30;
    static constexpr std::size_t aligned(std::int64_t bytes) {
        return (static_cast<std::size_t>(bytes) + 511) / 512 * 512;
    }
};

}  // namespace espalier::knn
