#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace espalier {

/// A regular file that is open for reading. Links are followed; a pipe, a device, a socket or a folder is refused as
/// soon as it is open, so that nobody waits for a writer or reads without end. What is found out is found out about the
/// open file: no other can take its place in between.
class RegularFile {
public:
    /// Throws `BadData`, which says why and names the fix, but not the file.
    explicit RegularFile(const std::filesystem::path& path);
    ~RegularFile();
    RegularFile(const RegularFile&) = delete;
    RegularFile& operator=(const RegularFile&) = delete;

    /// Its size when it was opened.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// Reads up to `most` bytes; 0 at the end. Throws `BadData`.
    [[nodiscard]] std::size_t read(char* to, std::size_t most);
    [[nodiscard]] int descriptor() const { return descriptor_; }
    /// From now on the descriptor is the caller's to close.
    [[nodiscard]] int release();

private:
    int descriptor_ = -1;
    std::uint64_t bytes_ = 0;
};

/// The bytes of a regular file, of at most `most`. Throws `BadData`, which names no file.
std::string read_regular_file(const std::filesystem::path& path, std::size_t most);

/// The same; nothing if there is no such file. Throws `BadData` for one that is there and cannot be read.
std::optional<std::string> read_regular_file_if_there(const std::filesystem::path& path, std::size_t most);

}  // namespace espalier
