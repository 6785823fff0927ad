#pragma once

#include <cstddef>
#include <string>

#include "harness/bench/families/family.hpp"

namespace espalier::bench {

/// The fault of a variant that keeps memory at each run; empty if it keeps none. Runs it 8 to 32 times: the first ones
/// may fill caches of the runtime's. Of a GPU's memory it sees whole pages, and what other programs allocate meanwhile.
std::string memory_kept(Bench& bench, std::size_t variant, const Configuration& configuration, DeviceKind kind);

}  // namespace espalier::bench
