#pragma once

#include <span>

#include "kernels/core/registry.hpp"
#include "tests/bench/faulty/problem.hpp"

namespace espalier::faulty {

std::span<const Registered<Problem>> registry();

/// The GPU's part of it: empty in a build without nvcc.
std::span<const Registered<Problem>> gpu_registry();

}  // namespace espalier::faulty
