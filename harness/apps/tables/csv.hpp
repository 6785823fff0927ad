#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/tables/record_source.hpp"

namespace espalier::bench::io {

class TextSource;

/// Reads comma-separated values (RFC 4180) record by record in bounded memory, from a plain or a gzip file.
/// Quoted fields may hold delimiters, doubled quotes and line ends. White space around unquoted fields does
/// not count, nor do empty lines and a UTF-8 byte order mark. Lines end in LF, CRLF or CR, mixed or not. A first
/// line of "sep=;", as spreadsheets write it, says what the delimiter is.
class CsvReader : public RecordSource {
public:
    /// Throws BadFile if the file is missing or not text, or its first line contradicts a delimiter that is not the
    /// comma. A gzip file may unpack to `max_inflation` times its size. Lines that begin with `comment` are passed
    /// over.
    explicit CsvReader(std::string path, char delimiter = ',', double max_inflation = kMaxInflation, char comment = 0);
    CsvReader(std::string path, std::unique_ptr<TextSource> source, char delimiter, char comment);
    ~CsvReader() override;

    /// The next record's fields, valid until the next call; false at the end of the file. Throws BadFile for
    /// a damaged gzip file, a quote that is not closed, text after a closing quote, or a record over 16 MiB.
    bool next(std::vector<std::string_view>& fields) override;

    /// The line, from 1, on which the last record began.
    [[nodiscard]] std::int64_t line() const override { return line_; }
    [[nodiscard]] const std::string& path() const override { return path_; }
    [[nodiscard]] double share() const override;

private:
    bool refill();
    void begin_file();
    void use_declared_delimiter(std::string_view line);
    void end_line(char line_end);
    void skip_rest_of_line_end();
    bool is_comment();
    [[nodiscard]] std::size_t find_record_end(bool with_quotes);
    [[nodiscard]] std::size_t find_quoted_record_end();
    [[nodiscard]] bool is_blank(char c) const;
    [[nodiscard]] std::string_view trimmed(const char* begin, const char* end) const;
    [[nodiscard]] bool is_delimiter(char c) const { return c == delimiter_ || (in_blanks() && is_blank(c)); }
    [[nodiscard]] bool in_blanks() const { return delimiter_ == kRunsOfBlanks; }
    enum class Found { record, quote, nothing };
    Found find_fields();
    void take_fields(std::vector<std::string_view>& fields) const;
    void split(char* record, std::size_t size, std::vector<std::string_view>& fields);
    void split_at_blanks(char* at, char* end, std::vector<std::string_view>& fields);
    char* split_quoted(char* at, char* end, std::vector<std::string_view>& fields);
    void check_is_text(std::size_t from) const;

    std::string path_;
    char delimiter_, comment_;
    std::unique_ptr<TextSource> source_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  ///< of what is not yet handed out
    std::size_t end_ = 0;    ///< of what has been read
    std::size_t taken_ = 0;  ///< bytes of text, from the source
    bool at_end_ = false;    ///< of the file
    bool after_cr_ = false;  ///< a line feed at begin_ belongs to the line before
    std::int64_t line_ = 0;
    std::int64_t next_line_ = 1;
    std::vector<std::uint32_t> field_ends_;  ///< of the last record without quotes, from its begin
    std::size_t fields_ = 0;                 ///< of it
    std::size_t record_ = 0;                 ///< where it begins
};

}  // namespace espalier::bench::io
