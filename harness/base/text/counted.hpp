#pragma once

#include <concepts>
#include <string>

namespace espalier::bench {

/// "1 class", "2 classes".
template <std::integral Count>
std::string counted(Count count, const std::string& one, const std::string& more) {
    return std::to_string(count) + " " + (count == 1 ? one : more);
}

/// "1 row", "2 rows".
template <std::integral Count>
std::string counted(Count count, const std::string& noun) {
    return counted(count, noun, noun + "s");
}

}  // namespace espalier::bench
