#include "harness/apps/seismic/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::bench::seismic {

double distance(const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z); }

Point position(const Grid& grid, std::int64_t node) {
    const std::int64_t line = node / grid.columns;
    return {grid.origin.x + grid.spacing.x * static_cast<double>(node % grid.columns),
            grid.origin.y + grid.spacing.y * static_cast<double>(line % grid.rows),
            grid.origin.z + grid.spacing.z * static_cast<double>(line / grid.rows)};
}

std::int64_t corner_of(const Grid& grid, int corner) {
    const std::int64_t column = corner & 1 ? grid.columns - 1 : 0, row = corner & 2 ? grid.rows - 1 : 0,
                       layer = corner & 4 ? grid.layers - 1 : 0;
    return (layer * grid.rows + row) * grid.columns + column;
}

double longest_path(const Grid& grid, const Receivers& receivers) {
    double longest = 0;
    for (int corner = 0; corner < 8; ++corner) {
        const Point at = position(grid, corner_of(grid, corner));
        for (const Point& receiver : receivers.positions) longest = std::max(longest, distance(at, receiver));
    }
    return longest;
}

}  // namespace espalier::bench::seismic
