#pragma once

#include <zlib.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/io/byte_file.hpp"

namespace espalier::bench::io {

/// The bytes of a file, those of a gzip file (of any number of members) unpacked. Throws BadFile for a damaged one, and
/// for one that unpacks to more than `max_inflation` times its size beyond the first 16 MiB: a few kilobytes
/// could else stand for more than any disk holds.
class TextSource {
public:
    TextSource(const std::string& path, double max_inflation);
    ~TextSource();
    TextSource(const TextSource&) = delete;
    TextSource& operator=(const TextSource&) = delete;

    /// Fills the buffer with the next bytes. Returns how many; 0 at the end.
    std::size_t read(std::span<char> buffer);

    /// The first bytes, up to so many, which `read` gives all the same. Before anything was read.
    [[nodiscard]] std::string_view peek(std::size_t most);

    /// The part of the file that was read so far, 0 if its size is not known.
    [[nodiscard]] double share() const;

private:
    bool refill();
    std::size_t take(std::span<char> buffer);
    std::size_t inflated(std::span<char> buffer);
    bool begins_another_member();
    void check_inflation() const;
    [[noreturn]] void fail(const std::string& why) const;

    std::string path_;
    double max_inflation_;
    ByteFile file_;
    std::vector<std::uint8_t> packed_;
    std::string peeked_;  ///< and not handed out yet
    std::size_t peeked_begin_ = 0;
    z_stream stream_{};  ///< its input is what is left of `packed_`, of a plain file, too
    bool gzip_ = false, at_end_ = false;
    std::uint64_t read_ = 0, unpacked_ = 0;
};

}  // namespace espalier::bench::io
