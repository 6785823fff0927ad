#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/api/exact_table.hpp"

namespace espalier::exact {

struct Neighbour {
    double distance;
    std::int32_t index;
};

/// By distance, NaN after everything, then by index.
inline bool nearer(const Neighbour& a, const Neighbour& b) {
    if (a.distance < b.distance) return true;
    if (b.distance < a.distance) return false;
    if (std::isnan(a.distance) != std::isnan(b.distance)) return std::isnan(b.distance);
    return a.index < b.index;
}

/// The nearest points of one query in single precision: `count` of them, `stride` apart.
struct Candidates {
    const float* distances;
    const std::int32_t* indices;
    std::int64_t count, stride;
};

/// The min(k, points) nearest points of a query in double precision, in order, in `found`. Tells whether the
/// candidates were enough; if not, it has looked at all points.
bool find_nearest(const Table& table, const double* query, bool missing, std::int64_t k, const Candidates& candidates,
                  std::vector<Neighbour>& found);

}  // namespace espalier::exact
