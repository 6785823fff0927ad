#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/bench/tune/space/space.hpp"

namespace espalier::bench::tune {

/// The blocks, threads and dynamic shared memory of a launch.
struct LaunchShape {
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t shared_bytes = 0;
    std::string refusal{};  ///< why CUDA launches nothing of this shape; empty if it does
};

/// How a configuration is launched for a problem. Throws `BadData` where an expression has no value, or none that is a
/// whole number from 0 on.
LaunchShape launch_shape(const Description& description, const LaunchRule& rule, const Configuration& configuration,
                         std::size_t problem);

}  // namespace espalier::bench::tune
