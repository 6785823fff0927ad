#include "harness/apps/tables/csv.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/text_source.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::size_t kBlock = 1 << 20;
constexpr std::size_t kLongestRecord = 16 << 20;  // beyond it a quote was surely left open
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// The first line end, or quote if quotes count, from here; `end` if there is none. One pass over the bytes: three of
/// memchr would each read to the end of the buffer where a file has none of its character.
const char* find_mark(const char* from, const char* end, bool with_quotes) {
    constexpr auto kMarks = [] {
        std::array<bool, 256> marks{};
        marks['\n'] = marks['\r'] = marks['"'] = true;
        return marks;
    }();
    for (; from < end; ++from)
        if (kMarks[static_cast<unsigned char>(*from)] && (with_quotes || *from != '"')) break;
    return from;
}

/// The bytes of a word that are this character: the highest bit of each, from the lowest byte on.
std::uint64_t equal_bytes(std::uint64_t word, char c) {
    constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101, kLow = 0x7F * kOnes;
    const std::uint64_t zero = word ^ (static_cast<unsigned char>(c) * kOnes);
    return ~(((zero & kLow) + kLow) | zero | kLow);
}

}  // namespace

CsvReader::CsvReader(std::string path, char delimiter, double max_inflation, char comment)
    : CsvReader(path, std::make_unique<TextSource>(path, max_inflation), delimiter, comment) {}

CsvReader::CsvReader(std::string path, std::unique_ptr<TextSource> source, char delimiter, char comment)
    : path_(std::move(path)), delimiter_(delimiter), comment_(comment), source_(std::move(source)) {
    buffer_.resize(2 * kBlock);
    begin_file();
}

/// Passes over what is no record: a byte order mark, and a line that declares the delimiter.
void CsvReader::begin_file() {
    constexpr std::string_view kMark = "\xEF\xBB\xBF", kQuoted = "\"sep=", kPlain = "sep=";
    constexpr std::size_t kEnough = 16;  // pipes give as little at a time as they like
    while (end_ < kEnough && refill()) {
    }
    if (std::string_view(buffer_.data(), end_).starts_with(kMark)) begin_ = kMark.size();
    const std::string_view text(buffer_.data() + begin_, end_ - begin_);
    const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    if (line.size() == text.size()) return;
    if (line.size() == kPlain.size() + 1 && line.starts_with(kPlain))
        use_declared_delimiter(line);
    else if (line.size() == kQuoted.size() + 2 && line.starts_with(kQuoted) && line.ends_with('"'))
        use_declared_delimiter(line.substr(1));
}

/// Of "sep=;", with or without a quote behind it.
void CsvReader::use_declared_delimiter(std::string_view line) {
    const char declared = line[line.find('=') + 1];
    if (delimiter_ != ',' && delimiter_ != declared)
        throw BadFile(path_, "line 1: 'sep=" + std::string(1, declared) +
                                 "' says that fields end in another character than --delimiter does; leave the option "
                                 "out, or the line");
    delimiter_ = declared;
    begin_ = find_record_end(false);
}

CsvReader::~CsvReader() = default;

/// What waits in the buffer is not read yet.
double CsvReader::share() const {
    if (taken_ == 0) return 0;
    return source_->share() * static_cast<double>(taken_ - (end_ - begin_)) / static_cast<double>(taken_);
}

bool CsvReader::is_blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter_; }

std::string_view CsvReader::trimmed(const char* begin, const char* end) const {
    while (begin < end && is_blank(*begin)) ++begin;
    while (begin < end && is_blank(end[-1])) --end;
    return {begin, static_cast<std::size_t>(end - begin)};
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
    taken_ += got;
    at_end_ = got == 0;
    check_is_text(from);
    return !at_end_;
}

void CsvReader::check_is_text(std::size_t from) const {
    if (std::memchr(buffer_.data() + from, '\0', end_ - from) == nullptr) return;
    throw BadFile(path_, "is not text in UTF-8 (it holds zero bytes); export the table as CSV in UTF-8");
}

void CsvReader::end_line(char line_end) {
    ++next_line_;
    after_cr_ = line_end == '\r';
}

/// The line feed of a CRLF whose other half ended a record.
void CsvReader::skip_rest_of_line_end() {
    if (!std::exchange(after_cr_, false)) return;
    if ((begin_ < end_ || refill()) && buffer_[begin_] == '\n') ++begin_;
}

/// Index just past the line end of the record at begin_, reading more as needed; kNone at the end of the
/// file. A record without quotes, as most are, ends with its line.
std::size_t CsvReader::find_record_end(bool with_quotes) {
    std::size_t scanned = 0;  // relative to begin_, which a refill moves
    while (true) {
        const char* const from = buffer_.data() + begin_ + scanned;
        const char* const end = buffer_.data() + end_;
        const char* const stop = find_mark(from, end, with_quotes);
        scanned += static_cast<std::size_t>(stop - from);
        if (stop != end && *stop == '"') return find_quoted_record_end();
        if (stop != end) {
            end_line(*stop);
            return begin_ + scanned + 1;
        }
        if (!refill()) return scanned == 0 ? kNone : end_;
    }
}

/// Finds the fields of the record at begin_ and passes over it, if it has no quotes. Eight bytes at a time: most fields
/// are so short that a search for each would take longer than what it finds.
CsvReader::Found CsvReader::find_fields() {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    std::size_t at = 0;  // relative to begin_, which a refill moves
    fields_ = 0;
    const auto is_end = [&](std::size_t mark) {  // of the record, and not only of a field
        field_ends_[fields_++] = static_cast<std::uint32_t>(mark);
        return buffer_[begin_ + mark] != delimiter_;
    };
    const auto finish = [&](std::size_t mark) {
        const char c = buffer_[begin_ + mark];
        if (c == '"') return Found::quote;
        end_line(c);
        record_ = begin_;
        begin_ += mark + 1;
        return Found::record;
    };
    while (true) {
        const std::size_t size = end_ - begin_;
        for (; std::endian::native == std::endian::little && at + kWord <= size; at += kWord) {
            std::uint64_t word = 0;
            std::memcpy(&word, buffer_.data() + begin_ + at, kWord);
            std::uint64_t marks = equal_bytes(word, delimiter_) | equal_bytes(word, '\n') | equal_bytes(word, '\r') |
                                  equal_bytes(word, '"');
            if (fields_ + kWord > field_ends_.size()) field_ends_.resize(2 * (fields_ + kWord));
            for (; marks != 0; marks &= marks - 1) {
                const std::size_t mark = at + static_cast<std::size_t>(std::countr_zero(marks)) / 8;
                if (is_end(mark)) return finish(mark);
            }
        }
        if (fields_ + kWord > field_ends_.size()) field_ends_.resize(2 * (fields_ + kWord));
        for (; at < size; ++at) {
            const char c = buffer_[begin_ + at];
            const bool mark = c == delimiter_ || c == '\n' || c == '\r' || c == '"';
            if (mark && is_end(at)) return finish(at);
            if (fields_ == field_ends_.size()) field_ends_.resize(2 * fields_);
        }
        if (refill()) continue;
        if (at == 0) return Found::nothing;
        field_ends_[fields_++] = static_cast<std::uint32_t>(at);
        record_ = std::exchange(begin_, end_);
        return Found::record;
    }
}

/// What `find_fields` found.
void CsvReader::take_fields(std::vector<std::string_view>& fields) const {
    const char* const record = buffer_.data() + record_;
    const char* at = record;
    fields.resize(fields_);
    for (std::size_t i = 0; i < fields_; ++i) {
        fields[i] = trimmed(at, record + field_ends_[i]);
        at = record + field_ends_[i] + 1;
    }
}

/// Finds the end of a record that may hold line ends in quotes.
std::size_t CsvReader::find_quoted_record_end() {
    enum class In { field_start, plain, quotes, closed } in = In::field_start;
    std::int64_t lines = 0;  // that end in quotes
    char before = 0;
    for (std::size_t i = 0;; ++i) {
        if (begin_ + i == end_ && !refill()) break;
        const char c = buffer_[begin_ + i];
        const bool is_line_end = c == '\n' || c == '\r';
        if (in == In::quotes) {
            if (c == '"') in = In::closed;
            lines += is_line_end && !(c == '\n' && before == '\r');
        } else if (is_line_end) {
            next_line_ += lines;
            end_line(c);
            return begin_ + i + 1;
        } else if (c == '"' && in != In::plain) {
            in = In::quotes;  // opens the field, or the second of a doubled quote
        } else if (is_delimiter(c)) {
            in = In::field_start;
        } else if (!is_blank(c)) {
            in = In::plain;
        }
        before = c;
    }
    if (in == In::quotes) {
        line_ = next_line_;
        fail("a quote in the record that begins here is never closed; close it, or double it if it is meant (\"\")");
    }
    return end_;
}

/// Whether the next line is one that `comment_` makes no record.
bool CsvReader::is_comment() {
    if (comment_ == 0) return false;
    for (std::size_t i = 0; begin_ + i < end_ || refill(); ++i)
        if (const char c = buffer_[begin_ + i]; !is_blank(c)) return c == comment_;
    return false;
}

bool CsvReader::next(std::vector<std::string_view>& fields) {
    while (true) {
        skip_rest_of_line_end();
        const std::int64_t first_line = next_line_;
        const bool comment = is_comment();
        if (const Found found = comment || in_blanks() ? Found::quote : find_fields(); found != Found::quote) {
            if (found == Found::nothing) return false;
            line_ = first_line;
            take_fields(fields);
            if (fields_ == 1 && fields[0].empty()) continue;
            return true;
        }
        const std::size_t stop = find_record_end(!comment);
        if (stop == kNone) return false;
        line_ = first_line;
        char* record = buffer_.data() + begin_;
        std::size_t size = stop - begin_;
        begin_ = stop;
        while (size > 0 && (record[size - 1] == '\n' || record[size - 1] == '\r')) --size;
        if (comment || trimmed(record, record + size).empty()) continue;
        split(record, size, fields);
        return true;
    }
}

void CsvReader::split(char* record, std::size_t size, std::vector<std::string_view>& fields) {
    fields.clear();
    char* at = record;
    char* const end = record + size;
    if (in_blanks()) return split_at_blanks(record, end, fields);
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

void CsvReader::split_at_blanks(char* at, char* end, std::vector<std::string_view>& fields) {
    while (true) {
        while (at < end && is_blank(*at)) ++at;
        if (at == end) return;
        if (*at == '"') {
            at = split_quoted(at + 1, end, fields);
        } else {
            char* const stop = std::find_if(at, end, [&](char c) { return is_blank(c); });
            fields.emplace_back(at, static_cast<std::size_t>(stop - at));
            at = stop;
        }
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
    const bool ends_here = at == end || is_delimiter(*at);
    while (at < end && is_blank(*at)) ++at;
    if (at < end && *at != delimiter_ && !(ends_here && in_blanks()))
        fail("text after the closing quote of field " + std::to_string(fields.size()) + " ('" +
             printable(fields.back()) + "'); double quotes inside a quoted field (\"\")");
    return at;
}

}  // namespace espalier::bench::io
