#pragma once

#include "kernels/dispatch/refusal.hpp"
#include "kernels/problems/convolution_2d.hpp"

namespace espalier::convolution_2d {

inline std::optional<std::string> refusal_of(const Problem& problem) { return refused_channels(problem.channels); }

}  // namespace espalier::convolution_2d
