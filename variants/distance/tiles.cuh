#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "kernels/core/support.hpp"
#include "kernels/problems/distance.hpp"

/// How the matrix of distances is cut into one tile per block.
namespace espalier::distance {

/// Tiles of `width` queries x `height` points, numbered along the queries in a one-dimensional grid: the
/// other dimensions end at 65,535 blocks, too few for a million points.
struct Tiles {
    std::int64_t width, height;
    std::int64_t across, down;

    constexpr Tiles(const Problem& problem, std::int64_t tile_width, std::int64_t tile_height)
        : width(tile_width),
          height(tile_height),
          across((problem.queries + tile_width - 1) / tile_width),
          down((problem.points + tile_height - 1) / tile_height) {}

    [[nodiscard]] constexpr std::int64_t count() const { return across * down; }
    [[nodiscard]] constexpr std::int64_t first_query(unsigned block) const { return block % across * width; }
    [[nodiscard]] constexpr std::int64_t first_point(unsigned block) const { return block / across * height; }

    [[nodiscard]] Support fit_a_grid() const {
        // With 16 x 16 distances each, that matrix has 2 TiB: no device's memory reaches the limit.
        if (count() > 2147483647) return Support::no("more than 2,147,483,647 blocks exceed the grid");
        return Support::yes();
    }
};

}  // namespace espalier::distance
