#pragma once

#include <string>

#include "espalier/stream.hpp"

/// The types that the header of a library made by espalier_add_library has, which needs nothing else of the inside.
namespace espalier::own {

/// Where a call runs.
struct Where {
    int gpu = -1;             ///< the GPU's ordinal; -1 is the CPU
    Stream stream = nullptr;  ///< of the GPU, on which the call only enqueues
    std::string variant{};    ///< forces one: "shared" or "shared:tile=32"; empty leaves the choice to the trees
};

/// The kernel that runs for a problem.
struct Choice {
    std::string variant, configuration;
    std::string reason;  ///< one sentence
};

}  // namespace espalier::own
