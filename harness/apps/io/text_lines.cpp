#include "harness/apps/io/text_lines.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::size_t kTextBlock = 1 << 18;
constexpr std::size_t kLongestLine = 16 << 20;

}  // namespace

TextLines::TextLines(std::string path, std::unique_ptr<TextSource> source)
    : path_(std::move(path)), source_(std::move(source)) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    while (end_ < kMark.size() && refill()) {
    }
    if (std::string_view(buffer_.data(), end_).starts_with(kMark)) begin_ = kMark.size();
}

bool TextLines::refill() {
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ > kLongestLine)
        throw BadFile(path_, "line " + std::to_string(line_ + 1) + " is longer than 16 MiB; is it a text file?");
    buffer_.resize(std::max(buffer_.size(), end_ + kTextBlock));
    const std::size_t got = source_->read({buffer_.data() + end_, kTextBlock});
    if (std::memchr(buffer_.data() + end_, '\0', got) != nullptr)
        throw BadFile(path_, "is not text in UTF-8 (it holds zero bytes)");
    end_ += got;
    return got > 0;
}

bool TextLines::next(std::string_view& line) {
    std::size_t scanned = 0;
    while (true) {
        if (begin_ == end_ && !refill()) return false;
        if (!std::exchange(after_cr_, false) || buffer_[begin_] != '\n') break;
        ++begin_;
    }
    while (true) {
        const char* const from = buffer_.data() + begin_;
        const char* const end = buffer_.data() + end_;
        const char* const stop = std::find_if(from + scanned, end, [](char c) { return c == '\n' || c == '\r'; });
        scanned = static_cast<std::size_t>(stop - from);
        const bool ends = stop != end;
        if (!ends && refill()) continue;
        line = {buffer_.data() + begin_, scanned};
        after_cr_ = ends && buffer_[begin_ + scanned] == '\r';
        begin_ += scanned + (ends ? 1 : 0);
        ++line_;
        return true;
    }
}

}  // namespace espalier::bench::io
