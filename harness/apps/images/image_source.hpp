#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/io/byte_file.hpp"

namespace espalier::bench::io {

/// The bytes of an image file in order, for decoders that are C. No size that the system states is believed, because
/// pipes and files of /proc state none: how much there is shows by reading ahead.
class ImageSource {
public:
    /// "-" is the standard input. Pixels may take `max_bytes`. Throws BadFile for a file that cannot be opened.
    ImageSource(const std::string& path, std::size_t max_bytes);

    /// The path as messages show it.
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::size_t max_bytes() const { return max_bytes_; }

    /// The first bytes, at most `count`, which stay to be read. Only before anything was read. Throws BadFile.
    std::string_view peek(std::size_t count);

    /// Whether the file has `count` bytes or more; reads ahead and keeps what is missing to know it. Throws BadFile.
    bool holds(std::uint64_t count);

    /// Bytes that are known to be there: of the whole file after `holds` said no.
    [[nodiscard]] std::uint64_t known_bytes() const { return fetched_; }

    /// The next bytes, fewer than `count` only at the end. Throws nothing, because C libraries call it: an error of
    /// reading ends the file, and `rethrow` has it.
    std::size_t read(void* to, std::size_t count) noexcept;

    /// All bytes that are left. Throws BadFile if they are more than `most`, and for errors of reading.
    std::vector<std::uint8_t> read_rest(std::uint64_t most);

    /// Throws what `read` met, if it met something: to be asked before a decoder's own complaint.
    void rethrow() const;

private:
    bool fetch();

    std::string path_;
    std::size_t max_bytes_;
    ByteFile file_;
    std::vector<std::uint8_t> ahead_;  ///< fetched; what lies before `at_` was read
    std::size_t at_ = 0;
    std::uint64_t fetched_ = 0;  ///< bytes of the file so far
    bool at_end_ = false;
    std::exception_ptr failure_;
};

}  // namespace espalier::bench::io
