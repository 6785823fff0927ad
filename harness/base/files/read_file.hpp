#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace espalier::bench {

/// A limit that no file that is read as a whole comes near: trees, summaries.
inline constexpr std::size_t kLargestWholeFile = std::size_t{64} << 20;

/// The bytes of a regular file; nothing if there is none. Throws `BadData`, which names the file and the fix, if what
/// is there is a pipe, a device or a folder, is larger than `most`, or cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t most = kLargestWholeFile);

/// The same for a file that a user names: throws `BadData` if there is none, too.
std::string read_named_file(const std::filesystem::path& path);

}  // namespace espalier::bench
