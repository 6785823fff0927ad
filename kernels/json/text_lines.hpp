#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace espalier {

/// Calls `of(line, number)` with the lines of a text that are neither empty nor comments, which begin with '#'. Lines
/// are counted from 1, all of them.
template <class F>
void for_each_line(std::string_view text, const F& of) {
    std::size_t number = 0;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        ++number;
        if (!line.empty() && line.front() != '#') of(line, number);
    }
}

}  // namespace espalier
