#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace espalier::bench {

/// Cases of a problem that are measured before all others, the first ones first, as variant and configuration.
struct FirstCases {
    std::vector<std::pair<std::string, std::string>> choices;
    std::size_t needed = 0;  ///< so many of them; a problem that lacks one is measured before those that have them
};

}  // namespace espalier::bench
