#pragma once

#include <cstdint>

namespace espalier::reference {

/// The travel time from the node (i, j, k) of a grid to a receiver, in samples, in double precision and not
/// rounded. Three numbers each: the grid's origin and spacing, the node, the receiver.
double travel_samples(const double* origin, const double* spacing, const std::int64_t* node, const double* receiver,
                      double samples_per_metre);

}  // namespace espalier::reference
