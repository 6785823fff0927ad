#pragma once

#include <cstdint>
#include <span>

namespace espalier::reference {

/// A trace's value at `position` samples from its beginning, by linear interpolation in double precision. Beyond
/// its ends the trace keeps its first and last value.
double between_samples(std::span<const float> trace, double position);

}  // namespace espalier::reference
