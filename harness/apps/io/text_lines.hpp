#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/io/text_source.hpp"

namespace espalier::bench::io {

/// The lines of a text, which end in LF, CRLF or CR, without a byte order mark. In memory bounded by the longest line.
class TextLines {
public:
    TextLines(std::string path, std::unique_ptr<TextSource> source);

    /// The next line without its end, valid until the next call; false at the end. Throws BadFile for a line over
    /// 16 MiB and for zero bytes.
    bool next(std::string_view& line);

    [[nodiscard]] std::int64_t line() const { return line_; }  ///< of the last one, from 1
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] double share() const { return source_->share(); }

private:
    bool refill();

    std::string path_;
    std::unique_ptr<TextSource> source_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0;
    bool after_cr_ = false;
    std::int64_t line_ = 0;
};

}  // namespace espalier::bench::io
