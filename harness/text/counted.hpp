#pragma once

#include <concepts>
#include <string>

namespace espalier::bench {

/// "1 row", "2 rows".
template <std::integral Count>
std::string counted(Count count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace espalier::bench
