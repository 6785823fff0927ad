#pragma once

#include <filesystem>
#include <string_view>

namespace espalier::bench {

/// Replaces a file as a whole: whoever reads it, and whatever is killed when, sees the old contents or
/// the new ones. Makes the folder if need be. Throws `BadData`.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

}  // namespace espalier::bench
