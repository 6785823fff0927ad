#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/travel_time.hpp"

namespace espalier::bench::seismic {

/// Which way z counts is the user's business, as long as receivers and sources agree.
using espalier::Point;

double distance(const Point& a, const Point& b);

/// Where the receivers stand, in the order of the record's traces.
struct Receivers {
    std::vector<std::string> names;  ///< empty, or one each
    std::vector<Point> positions;
    std::vector<float> weights;  ///< empty: all count the same

    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(positions.size()); }
};

/// Reads a CSV file with a header that names x, y and z and may name `weight` and one column of names (name, station,
/// sta or id), in any order and case; without a header there are three columns, x, y and z. Either all receivers have
/// names or none. Throws BadFile with the line of what is wrong, an unknown column among it.
Receivers read_receivers(const std::string& path);

/// Writes them as `name,x,y,z`, whole or not at all. Throws BadFile.
void write_receivers(const std::string& path, const Receivers& receivers);

/// The nodes of a box: trial sources.
using Grid = SourceGrid;

Point position(const Grid& grid, std::int64_t node);

/// The node at one of the box's eight corners, 0 to 7.
std::int64_t corner_of(const Grid& grid, int corner);

/// The longest travel path between a node and a receiver: it ends in a corner of the box, because distance is a
/// convex function of position.
double longest_path(const Grid& grid, const Receivers& receivers);

}  // namespace espalier::bench::seismic
