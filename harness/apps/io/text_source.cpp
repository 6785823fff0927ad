#include "harness/apps/io/text_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::size_t kPackedBlock = 256 << 10;
constexpr std::uint64_t kFreely = 16 << 20;  // unpacked before anybody asks how much it was

}  // namespace

TextSource::TextSource(const std::string& path, double max_inflation)
    : path_(path), max_inflation_(max_inflation), file_(path), packed_(kPackedBlock) {
    refill();
    gzip_ = stream_.avail_in >= 2 && packed_[0] == 0x1F && packed_[1] == 0x8B;
    constexpr int kGzip = 16;  // added to the bits of the window: with gzip's header and checksum
    if (gzip_ && inflateInit2(&stream_, MAX_WBITS + kGzip) != Z_OK) throw std::bad_alloc();
}

TextSource::~TextSource() {
    if (gzip_) inflateEnd(&stream_);
}

double TextSource::share() const {
    const auto size = file_.size();
    return size ? static_cast<double>(read_ - stream_.avail_in) / static_cast<double>(*size) : 0;
}

bool TextSource::refill() {
    const std::size_t got = file_.read(packed_);
    read_ += got;
    stream_.next_in = packed_.data();
    stream_.avail_in = static_cast<uInt>(got);
    return got > 0;
}

std::string_view TextSource::peek(std::size_t most) {
    peeked_.resize(most);
    std::size_t size = 0;
    while (size < most) {  // pipes give as little at a time as they like
        const std::size_t got = take({peeked_.data() + size, most - size});
        if (got == 0) break;
        size += got;
    }
    peeked_.resize(size);
    return peeked_;
}

std::size_t TextSource::read(std::span<char> buffer) {
    if (peeked_begin_ == peeked_.size()) return take(buffer);
    const std::size_t count = std::min(buffer.size(), peeked_.size() - peeked_begin_);
    std::memcpy(buffer.data(), peeked_.data() + peeked_begin_, count);
    peeked_begin_ += count;
    return count;
}

std::size_t TextSource::take(std::span<char> buffer) {
    if (gzip_) return inflated(buffer);
    if (stream_.avail_in == 0 && !refill()) return 0;
    const std::size_t count = std::min<std::size_t>(buffer.size(), stream_.avail_in);
    std::memcpy(buffer.data(), stream_.next_in, count);
    stream_.next_in += count;
    stream_.avail_in -= static_cast<uInt>(count);
    return count;
}

std::size_t TextSource::inflated(std::span<char> buffer) {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(buffer.size());
    while (stream_.avail_out > 0 && !at_end_) {
        if (stream_.avail_in == 0 && !refill()) fail("it ends too early");
        const int status = inflate(&stream_, Z_NO_FLUSH);
        if (status == Z_MEM_ERROR) throw std::bad_alloc();
        if (status == Z_STREAM_END)
            at_end_ = !begins_another_member();
        else if (status != Z_OK && status != Z_BUF_ERROR)
            fail(stream_.msg ? stream_.msg : "no valid data");
    }
    const std::size_t count = buffer.size() - stream_.avail_out;
    unpacked_ += count;
    check_inflation();
    return count;
}

/// Files may be appended to one another; what is no member, such as zeros up to a block's end, is passed over.
bool TextSource::begins_another_member() {
    if (stream_.avail_in == 0 && !refill()) return false;
    return stream_.next_in[0] == 0x1F && inflateReset(&stream_) == Z_OK;
}

void TextSource::check_inflation() const {
    const auto packed = static_cast<double>(read_ - stream_.avail_in);
    if (unpacked_ <= kFreely || static_cast<double>(unpacked_) <= max_inflation_ * packed) return;
    throw BadFile(path_,
                  fmt::format("unpacks to {:.0f} times its size: {:.0f} bytes of it to {}; if that is no mistake, "
                              "unpack it beforehand, or raise the limit of {:g} with knn's --max-inflation",
                              static_cast<double>(unpacked_) / packed, packed, unpacked_, max_inflation_));
}

void TextSource::fail(const std::string& why) const {
    throw BadFile(path_, "the gzip data is cut off or damaged (" + why + "); get the whole file again");
}

}  // namespace espalier::bench::io
