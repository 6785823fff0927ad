#include "reference_cpu/travel_time.hpp"

#include <cmath>

namespace espalier::reference {

double travel_samples(const double* origin, const double* spacing, const std::int64_t* node, const double* receiver,
                      double samples_per_metre) {
    double offset[3];
    for (int axis = 0; axis < 3; ++axis)
        offset[axis] = receiver[axis] - (origin[axis] + static_cast<double>(node[axis]) * spacing[axis]);
    return std::hypot(offset[0], offset[1], offset[2]) * samples_per_metre;
}

}  // namespace espalier::reference
