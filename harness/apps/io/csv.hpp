#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::bench::io {

class TextSource;

/// How many bytes one of a gzip file may stand for, on average. Tables are packed to a fifth as a rule, very sparse
/// ones to a hundredth; deflate ends at 1032.
inline constexpr double kMaxInflation = 200;

/// Reads comma-separated values (RFC 4180) record by record in bounded memory, from a plain or a gzip file.
/// Quoted fields may hold delimiters, doubled quotes and line ends. White space around unquoted fields does
/// not count, nor do empty lines and a UTF-8 byte order mark. Lines end in LF or CRLF.
class CsvReader {
public:
    /// Throws BadFile if the file is missing or not text. A gzip file may unpack to `max_inflation` times its size.
    explicit CsvReader(std::string path, char delimiter = ',', double max_inflation = kMaxInflation);
    ~CsvReader();
    CsvReader(const CsvReader&) = delete;
    CsvReader& operator=(const CsvReader&) = delete;

    /// The next record's fields, valid until the next call; false at the end of the file. Throws BadFile for
    /// a damaged gzip file, a quote that is not closed, text after a closing quote, or a record over 16 MiB.
    bool next(std::vector<std::string_view>& fields);

    /// The line, from 1, on which the last record began.
    [[nodiscard]] std::int64_t line() const { return line_; }
    [[nodiscard]] const std::string& path() const { return path_; }

    /// The part of the file that was read so far, 0 if its size is not known.
    [[nodiscard]] double share() const;

    /// Throws BadFile about the last record.
    [[noreturn]] void fail(const std::string& problem) const;

private:
    bool refill();
    [[nodiscard]] std::size_t find_record_end();
    [[nodiscard]] std::size_t find_quoted_record_end();
    [[nodiscard]] bool is_blank(char c) const;
    [[nodiscard]] std::string_view trimmed(const char* begin, const char* end) const;
    void split(char* record, std::size_t size, std::vector<std::string_view>& fields);
    char* split_quoted(char* at, char* end, std::vector<std::string_view>& fields);
    void check_is_text(std::size_t from) const;

    std::string path_;
    char delimiter_;
    std::unique_ptr<TextSource> source_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  ///< of what is not yet handed out
    std::size_t end_ = 0;    ///< of what has been read
    bool at_end_ = false;    ///< of the file
    std::int64_t line_ = 0;
    std::int64_t next_line_ = 1;
};

}  // namespace espalier::bench::io
