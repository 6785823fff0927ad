#pragma once

#include <span>

namespace espalier::reference {

struct Dot {
    double sum = 0;           ///< of a_i b_i
    double absolute_sum = 0;  ///< of |a_i b_i|: what errors are measured by
};

/// Inner product of two vectors of one length.
Dot dot(std::span<const float> a, std::span<const float> b);

}  // namespace espalier::reference
