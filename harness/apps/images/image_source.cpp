#include "harness/apps/images/image_source.hpp"

#include <algorithm>
#include <cstring>

#include "harness/apps/io/bad_file.hpp"
#include "harness/base/files/replaced_file.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::size_t kFetched = 64 << 10;  // bytes at once

}  // namespace

ImageSource::ImageSource(const std::string& path, std::size_t max_bytes)
    : path_(path == kStandardStream ? "standard input" : path), max_bytes_(max_bytes), file_(path) {}

/// Appends the next bytes to those that are kept. False at the end.
bool ImageSource::fetch() {
    if (at_end_) return false;
    if (at_ == ahead_.size()) {
        ahead_.clear();
        at_ = 0;
    }
    const std::size_t kept = ahead_.size();
    ahead_.resize(kept + kFetched);
    const std::size_t got = file_.read({ahead_.data() + kept, kFetched});
    ahead_.resize(kept + got);
    fetched_ += got;
    at_end_ = got < kFetched;
    return got > 0;
}

std::string_view ImageSource::peek(std::size_t count) {
    while (ahead_.size() - at_ < count && fetch()) continue;
    return {reinterpret_cast<const char*>(ahead_.data()) + at_, std::min(count, ahead_.size() - at_)};
}

bool ImageSource::holds(std::uint64_t count) {
    while (fetched_ < count && fetch()) continue;
    return fetched_ >= count;
}

std::size_t ImageSource::read(void* to, std::size_t count) noexcept {
    std::size_t filled = 0;
    try {
        while (filled < count && (at_ < ahead_.size() || fetch())) {
            const std::size_t part = std::min(count - filled, ahead_.size() - at_);
            std::memcpy(static_cast<std::uint8_t*>(to) + filled, ahead_.data() + at_, part);
            at_ += part;
            filled += part;
        }
    } catch (...) {
        failure_ = std::current_exception();
        at_end_ = true;
    }
    return filled;
}

std::vector<std::uint8_t> ImageSource::read_rest(std::uint64_t most) {
    while (ahead_.size() - at_ <= most && fetch()) continue;
    if (ahead_.size() - at_ > most)
        throw BadFile(path_, "has more than " + std::to_string(most >> 20) +
                                 " MiB; raise the limit with --max-image, scale the image down or cut it up");
    std::vector<std::uint8_t> rest = std::move(ahead_);
    rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(at_));
    ahead_.clear();
    at_ = 0;
    return rest;
}

void ImageSource::rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
}

}  // namespace espalier::bench::io
