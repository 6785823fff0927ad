#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/bench/families/suite.hpp"
#include "kernels/problems/smallest_k.hpp"

// The parts of the family's suite, each in a file of its own.
namespace espalier::bench::smallest_k {

using namespace ::espalier::smallest_k;

std::unique_ptr<Workload<Problem>> workload(const Problem& problem, std::uint64_t seed, Pattern pattern);
std::vector<Problem> default_problems(DeviceKind kind, Effort effort);
std::vector<TypedEdgeCase<Problem>> edge_cases();

}  // namespace espalier::bench::smallest_k
