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

/// Limits far from any file of records. The largest committed one holds 44 MB in 3,000 lines of up to 53 KB, and none
/// unpacks to more than 25 times its size.
struct RecordLimits {
    static constexpr std::uint64_t kBytes = std::uint64_t{4} << 30;     ///< unpacked
    static constexpr std::uint64_t kRatio = 200;                        ///< of unpacked to packed bytes,
    static constexpr std::uint64_t kPadding = std::uint64_t{16} << 20;  ///< beyond the first so many
    static constexpr std::uint64_t kLine = std::uint64_t{64} << 20;     ///< bytes in a line that is skipped
    static constexpr std::size_t kLines = 10'000'000;
};

/// Calls `visit` for every line in bounded memory and time, whatever the file holds; of a file that ends in ".xz" or
/// ".gz", of what it unpacks to. Throws `BadData`, which names the file, if it cannot be read, is no regular file, or
/// lies beyond the limits.
void for_each_line(const std::filesystem::path& path, const std::function<void(const Line&)>& visit,
                   std::size_t longest = std::size_t{16} << 20);

}  // namespace espalier::bench
