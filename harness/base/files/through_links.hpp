#pragma once

#include <optional>
#include <string>

namespace espalier::bench {

/// The full name of the file that a path leads to through symbolic links, whether it is there or not. Nothing if it has
/// none: the links lead in a circle, or to what is open and has no name any more.
std::optional<std::string> through_links(const std::string& path);

}  // namespace espalier::bench
