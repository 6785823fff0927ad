#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace espalier::bench {

/// The bytes of a file; nothing if it cannot be opened.
std::optional<std::string> read_file(const std::filesystem::path& path);

}  // namespace espalier::bench
