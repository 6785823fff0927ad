#pragma once

#include "harness/bench/tune/describe/description.hpp"
#include "harness/bench/tune/describe/place.hpp"

namespace espalier::bench::tune {

/// Reads `Arguments` and `ReferenceArguments` of a KernelSpecification into `description`, which has its parameters and
/// sizes already.
void read_arguments(const Place& kernel, Description& description);

}  // namespace espalier::bench::tune
