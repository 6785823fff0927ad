#pragma once

#include <string>
#include <string_view>

namespace espalier {

/// Appends a line to a file, which is made if it is not there. One write, so that lines of several threads and
/// processes do not mix; after what was cut off, by a full disk for example, a new line begins first. Throws BadData,
/// which names no file.
void append_line(const std::string& path, std::string_view line);

}  // namespace espalier
