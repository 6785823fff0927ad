#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/apps/io/file.hpp"

namespace espalier::bench::io {

/// Reads any file in order: a regular one, a pipe, a device; "-" is the standard input. Throws BadFile for one
/// that is missing, cannot be read, or became shorter meanwhile.
class ByteFile {
public:
    explicit ByteFile(const std::string& path);

    /// Fills the buffer with the next bytes. Returns how many; fewer than it holds only at the end.
    std::size_t read(std::span<std::uint8_t> buffer);

    /// What the file holds, if it says so beforehand: pipes and devices do not.
    [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }

private:
    std::string path_;
    File file_;  ///< empty for the standard input
    std::optional<std::uint64_t> size_;
    std::uint64_t read_ = 0;
};

}  // namespace espalier::bench::io
