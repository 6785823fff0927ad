#pragma once

#include <span>

#include "kernels/core/selector.hpp"
#include "kernels/problems/synthetic.hpp"

namespace espalier::synthetic {

/// As the build generates it for a real family.
std::span<const Selector<Problem>> selectors_in_this_program();

}  // namespace espalier::synthetic
