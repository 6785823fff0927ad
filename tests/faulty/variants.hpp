#pragma once

#include <span>

#include "harness/core/registry.hpp"
#include "tests/faulty/problem.hpp"

namespace espalier::faulty {

std::span<const Registered<Problem>> registry();

}  // namespace espalier::faulty
