#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace espalier::bench {

/// The ending of packed records: what is committed of a sweep is packed.
inline constexpr std::string_view kPacked = ".xz";

/// The text as an xz file: the same text gives the same bytes with the same liblzma.
std::string pack(std::string_view text);

/// Whether a file of this name is read as a packed one: ".xz", and ".gz" as records were packed before.
bool is_packed(const std::filesystem::path& file);

/// Which checksums the records of a file must have. Wherever a line has one, it is checked.
enum class Seals { each_line, whole_file };

/// Packed files have one of their own: their lines need none.
Seals seals_of(const std::filesystem::path& file);

}  // namespace espalier::bench
