#pragma once

#include <string>
#include <string_view>

namespace espalier {

/// Appends a line to a file, which is made if it is not there. One write, so that lines of several threads and
/// processes do not mix; after what was cut off, by a full disk for example, a new line begins first. Throws BadData,
/// which names no file.
void append_line(const std::string& path, std::string_view line);

/// The full path of the file that an environment variable names for what a library appends; empty if it names none, or
/// if the program runs with another user's rights, whom nobody may have write a file. Throws std::bad_alloc.
std::string file_to_append_to(const char* variable);

}  // namespace espalier
