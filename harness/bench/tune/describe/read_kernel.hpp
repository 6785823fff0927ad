#pragma once

#include "harness/bench/tune/describe/description.hpp"
#include "harness/bench/tune/describe/place.hpp"

namespace espalier::bench::tune {

/// Reads a KernelSpecification into `description`, which has its parameters already.
void read_kernel(const Place& kernel, Description& description);

}  // namespace espalier::bench::tune
