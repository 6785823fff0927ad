#include "harness/apps/io/csv.hpp"

#include <algorithm>
#include <cstring>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/text_source.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::size_t kBlock = 1 << 20;
constexpr std::size_t kLongestRecord = 16 << 20;  // beyond it a quote was surely left open
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

}  // namespace

CsvReader::CsvReader(std::string path, char delimiter, double max_inflation)
    : path_(std::move(path)), delimiter_(delimiter), source_(std::make_unique<TextSource>(path_, max_inflation)) {
    buffer_.resize(2 * kBlock);
    refill();
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (std::string_view(buffer_.data(), end_).starts_with(kMark)) begin_ = kMark.size();
}

CsvReader::~CsvReader() = default;

double CsvReader::share() const { return source_->share(); }

bool CsvReader::is_blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter_; }

std::string_view CsvReader::trimmed(const char* begin, const char* end) const {
    while (begin < end && is_blank(*begin)) ++begin;
    while (begin < end && is_blank(end[-1])) --end;
    return {begin, static_cast<std::size_t>(end - begin)};
}

void CsvReader::fail(const std::string& problem) const {
    throw BadFile(path_, "line " + std::to_string(line_) + ": " + problem);
}

/// Reads another block behind what is there. False if there is no more.
bool CsvReader::refill() {
    if (at_end_) return false;
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ > kLongestRecord) {
        line_ = next_line_;
        fail("the record that begins here is longer than 16 MiB; is a quote left open?");
    }
    if (buffer_.size() < end_ + kBlock) buffer_.resize(end_ + kBlock);
    const std::size_t from = end_;
    const std::size_t got = source_->read({buffer_.data() + end_, kBlock});
    end_ += got;
    at_end_ = got == 0;
    check_is_text(from);
    return !at_end_;
}

void CsvReader::check_is_text(std::size_t from) const {
    if (std::memchr(buffer_.data() + from, '\0', end_ - from) == nullptr) return;
    throw BadFile(path_, "is not text in UTF-8 (it holds zero bytes); export the table as CSV in UTF-8");
}

/// Index just past the line end of the record at begin_, reading more as needed; kNone at the end of the
/// file. A record without quotes, as most are, ends with its line, which memchr finds fastest.
std::size_t CsvReader::find_record_end() {
    std::size_t scanned = 0;  // relative to begin_, which a refill moves
    while (true) {
        const char* from = buffer_.data() + begin_ + scanned;
        const std::size_t left = end_ - begin_ - scanned;
        const auto* newline = static_cast<const char*>(std::memchr(from, '\n', left));
        const std::size_t length = newline ? static_cast<std::size_t>(newline - from) : left;
        if (std::memchr(from, '"', length) != nullptr) return find_quoted_record_end();
        if (newline) {
            ++next_line_;
            return begin_ + scanned + length + 1;
        }
        scanned += length;
        if (!refill()) return scanned == 0 ? kNone : end_;
    }
}

/// Finds the end of a record that may hold line ends in quotes.
std::size_t CsvReader::find_quoted_record_end() {
    enum class In { field_start, plain, quotes, closed } in = In::field_start;
    std::int64_t lines = 0;
    for (std::size_t i = 0;; ++i) {
        if (begin_ + i == end_ && !refill()) break;
        const char c = buffer_[begin_ + i];
        lines += c == '\n';
        if (in == In::quotes) {
            if (c == '"') in = In::closed;
        } else if (c == '\n') {
            next_line_ += lines;
            return begin_ + i + 1;
        } else if (c == '"' && in != In::plain) {
            in = In::quotes;  // opens the field, or the second of a doubled quote
        } else if (c == delimiter_) {
            in = In::field_start;
        } else if (!is_blank(c)) {
            in = In::plain;
        }
    }
    if (in == In::quotes) {
        line_ = next_line_;
        fail("a quote in the record that begins here is never closed; close it, or double it if it is meant (\"\")");
    }
    return end_;
}

bool CsvReader::next(std::vector<std::string_view>& fields) {
    while (true) {
        const std::int64_t first_line = next_line_;
        const std::size_t stop = find_record_end();
        if (stop == kNone) return false;
        line_ = first_line;
        char* record = buffer_.data() + begin_;
        std::size_t size = stop - begin_;
        begin_ = stop;
        while (size > 0 && (record[size - 1] == '\n' || record[size - 1] == '\r')) --size;
        if (trimmed(record, record + size).empty()) continue;
        split(record, size, fields);
        return true;
    }
}

void CsvReader::split(char* record, std::size_t size, std::vector<std::string_view>& fields) {
    fields.clear();
    char* at = record;
    char* const end = record + size;
    while (true) {
        char* start = at;
        while (start < end && is_blank(*start)) ++start;
        if (start < end && *start == '"') {
            at = split_quoted(start + 1, end, fields);
        } else {
            char* const stop = std::find(at, end, delimiter_);
            fields.push_back(trimmed(at, stop));
            at = stop;
        }
        if (at == end) return;
        ++at;  // past the delimiter; a record that ends in one ends in an empty field
    }
}

/// Reads a quoted field from behind its opening quote, closing up doubled quotes in place. Returns the
/// delimiter or the end behind it.
char* CsvReader::split_quoted(char* at, char* end, std::vector<std::string_view>& fields) {
    char* const begin = at;
    char* to = at;
    while (at < end) {
        if (*at == '"') {
            ++at;
            if (at == end || *at != '"') break;
        }
        *to++ = *at++;
    }
    fields.emplace_back(begin, static_cast<std::size_t>(to - begin));
    while (at < end && is_blank(*at)) ++at;
    if (at < end && *at != delimiter_)
        fail("text after the closing quote of field " + std::to_string(fields.size()) + " ('" +
             printable(fields.back()) + "'); double quotes inside a quoted field (\"\")");
    return at;
}

}  // namespace espalier::bench::io
