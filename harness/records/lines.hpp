#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace espalier::bench {

struct Line {
    std::string text;          ///< without its newline; empty if overlong
    std::uint64_t offset = 0;  ///< in the file
    std::uint64_t bytes = 0;   ///< without its newline
    bool ended = false;        ///< by a newline, not by the end of the file
    bool overlong = false;     ///< longer than the limit: skipped, not stored
};

/// Calls `visit` for every line in bounded memory, whatever the file holds; of a file that ends in ".xz" or
/// ".gz", of what it unpacks to. Throws `BadData` if it cannot be read.
void for_each_line(const std::filesystem::path& path, const std::function<void(const Line&)>& visit,
                   std::size_t longest = std::size_t{16} << 20);

}  // namespace espalier::bench
