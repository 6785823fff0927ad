#pragma once

#include <cstdint>
#include <vector>

#include "espalier/c/neighbours.h"

/// In single or in double precision: the other distances are empty.
struct espalier_radius_lists {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> indices;
    std::vector<float> distances;
    std::vector<double> exact_distances;
};
