#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "harness/apps/io/cell.hpp"

namespace espalier::bench::io {

/// "a, b, c" for a message: at most 20 names, each made printable.
inline std::string name_list(const std::vector<std::string>& names) {
    constexpr std::size_t kShown = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
        text.append(i == 0 ? "" : ", ").append(printable(names[i]));
    return names.size() > kShown ? text + ", ..." : text;
}

}  // namespace espalier::bench::io
