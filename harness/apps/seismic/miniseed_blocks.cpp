#include "harness/apps/seismic/miniseed_blocks.hpp"

#include <fmt/format.h>
#include <libmseed.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/seismic/formats.hpp"
#include "harness/apps/seismic/miniseed3.hpp"

namespace espalier::bench::seismic {
namespace {

constexpr std::int64_t kFixedBytes = 48;                     // of a miniSEED 2 header
constexpr std::int64_t kMostRecordBytes = MAXRECLEN;         // of either version
constexpr std::int64_t kPieceOfFile = 4 * kMostRecordBytes;  // in memory: the longest record and what is looked at next
constexpr std::int64_t kMostMicroseconds = 9'000'000'000'000'000;  // in the year 2255

using OwnedMsr = std::unique_ptr<MSRecord, void (*)(MSRecord*)>;

bool is_blank_or(char c, bool other) { return c == ' ' || c == '\0' || other; }

/// As much of a miniSEED 2 header's begin as `bytes` hold: sequence number, quality, reserved byte.
bool begins_like_miniseed2(std::span<const char> bytes) {
    for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 8); ++i) {
        const char c = bytes[i];
        if (i < 6 && !is_blank_or(c, c >= '0' && c <= '9')) return false;
        if (i == 6 && !MS_ISDATAINDICATOR(c)) return false;
        if (i == 7 && !is_blank_or(c, false)) return false;
    }
    return bytes.size() > 6;
}

/// Whether the end of a file is the begin of a record.
bool begins_like_record(std::span<const char> bytes) {
    const bool version3 = bytes.size() >= 3 && bytes[0] == 'M' && bytes[1] == 'S' && bytes[2] == 3;
    return version3 || begins_like_miniseed2(bytes);
}

bool is_miniseed2(std::span<const char> bytes) {
    return static_cast<std::int64_t>(bytes.size()) >= kFixedBytes && begins_like_miniseed2(bytes) &&
           MS_ISVALIDHEADER(bytes.data());
}

/// The byte order of a miniSEED 2 header, by libmseed's rule; nothing for a date that is none in either.
std::optional<bool> is_big_endian(std::span<const char> record) {
    const auto number = [&](std::size_t at, bool big) {
        const auto one = static_cast<unsigned char>(record[at]), two = static_cast<unsigned char>(record[at + 1]);
        return big ? one << 8 | two : two << 8 | one;
    };
    if (MS_ISVALIDYEARDAY(number(20, false), number(22, false))) return false;
    if (MS_ISVALIDYEARDAY(number(20, true), number(22, true))) return true;
    return std::nullopt;
}

OwnedMsr unpack(std::span<char> record, bool samples) {
    MSRecord* unpacked = nullptr;
    const int status = msr_unpack(record.data(), static_cast<int>(record.size()), &unpacked, samples ? 1 : 0, 0);
    OwnedMsr owner(unpacked, [](MSRecord* it) { msr_free(&it); });
    if (status != MS_NOERROR) owner.reset();
    return owner;
}

std::optional<std::string> parse_miniseed2(std::span<char> record, MiniSeedHeader& header) {
    const OwnedMsr unpacked = unpack(record, false);
    if (!unpacked) return "cannot be decoded: it is damaged";
    if (unpacked->starttime == HPTERROR || std::abs(unpacked->starttime) > kMostMicroseconds)
        return "has no time that is one: its clock is damaged";
    header.name =
        fmt::format("{}.{}.{}.{}", unpacked->network, unpacked->station, unpacked->location, unpacked->channel);
    header.block.start = unpacked->starttime * 1000;
    header.block.rate = unpacked->samprate;
    header.block.samples = unpacked->samplecnt;
    header.text = unpacked->encoding == DE_ASCII;
    return std::nullopt;
}

/// Whether a record has room for the samples that it announces.
bool has_room(const MSRecord& header, std::size_t bytes) {
    const std::int64_t each = header.encoding == DE_FLOAT64                                  ? 8
                              : header.encoding == DE_INT32 || header.encoding == DE_FLOAT32 ? 4
                              : header.encoding == DE_INT16                                  ? 2
                              : header.encoding == DE_ASCII                                  ? 1
                                                                                             : 0;
    const std::size_t offset = header.fsdh->data_offset;
    return offset <= bytes && header.samplecnt * each <= static_cast<std::int64_t>(bytes - offset);
}

std::optional<std::string> decode_miniseed2(std::span<char> record, std::int64_t count, std::vector<float>& samples) {
    // libmseed believes the count of a record whose samples have a fixed size, and reads beyond the record's end.
    if (const OwnedMsr header = unpack(record, false); header && !has_room(*header, record.size()))
        return "announces more samples than it has room for";
    const OwnedMsr unpacked = unpack(record, true);
    if (!unpacked) return "cannot be decoded: it is damaged";
    if (unpacked->numsamples != count)
        return fmt::format("holds {} samples and announces {}", unpacked->numsamples, count);
    samples.resize(static_cast<std::size_t>(count));
    const auto take = [&](const auto* values) {
        std::transform(values, values + count, samples.begin(), [](auto x) { return static_cast<float>(x); });
    };
    switch (unpacked->sampletype) {
        case 'i': take(static_cast<const std::int32_t*>(unpacked->datasamples)); break;
        case 'f': take(static_cast<const float*>(unpacked->datasamples)); break;
        case 'd': take(static_cast<const double*>(unpacked->datasamples)); break;
        default: return "holds text instead of samples; leave log channels out";
    }
    if (unpacked->encoding != DE_STEIM1 && unpacked->encoding != DE_STEIM2) return std::nullopt;
    const bool big = unpacked->Blkt1000 != nullptr ? unpacked->byteorder != 0 : is_big_endian(record).value_or(true);
    const auto data = std::min<std::size_t>(unpacked->fsdh->data_offset, record.size());
    return check_steim(record.subspan(data), big, static_cast<const std::int32_t*>(unpacked->datasamples)[count - 1]);
}

}  // namespace

MiniSeedScanner::MiniSeedScanner(std::string path, const MiniSeedScan& from, bool growing)
    : path_(std::move(path)), scan_(from), growing_(growing) {
    check_is_file(path_);
    file_ = io::open_for_reading(path_);
    struct stat status {};
    fstat(fileno(file_.get()), &status);
    size_ = status.st_size;
}

std::span<char> MiniSeedScanner::at(std::int64_t offset, std::int64_t bytes) {
    bytes = std::min(bytes, size_ - offset);
    if (offset < buffer_begin_ || offset + bytes > buffer_begin_ + buffer_bytes_) {
        buffer_begin_ = offset;
        buffer_bytes_ = 0;
        buffer_.resize(static_cast<std::size_t>(std::min(std::max(bytes, kPieceOfFile), size_ - offset)));
        while (buffer_bytes_ < static_cast<std::int64_t>(buffer_.size())) {
            const ssize_t got = pread(fileno(file_.get()), buffer_.data() + buffer_bytes_,
                                      buffer_.size() - static_cast<std::size_t>(buffer_bytes_), offset + buffer_bytes_);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw io::BadFile(path_, std::string("cannot be read: ") + std::strerror(errno));
            if (got == 0) throw io::BadFile(path_, "became shorter while it was read; start again when it is complete");
            buffer_bytes_ += got;
        }
    }
    return std::span(buffer_).subspan(static_cast<std::size_t>(offset - buffer_begin_),
                                      static_cast<std::size_t>(bytes));
}

void MiniSeedScanner::refuse_short(std::int64_t offset) const {
    throw io::BadFile(path_, fmt::format("is not whole miniSEED from byte {} on; restore it", offset));
}

/// How long the record at `offset` is by its header, which may be longer than the file; nothing if none begins there.
std::optional<std::int64_t> MiniSeedScanner::length_of(std::int64_t offset) {
    if (is_miniseed3(at(offset, kMiniSeed3HeaderBytes))) return miniseed3_bytes(at(offset, kMiniSeed3HeaderBytes));
    if (!is_miniseed2(at(offset, kFixedBytes))) return std::nullopt;
    const std::span<char> rest = at(offset, kMostRecordBytes + kFixedBytes);
    const int found = ms_detect(rest.data(), static_cast<int>(rest.size()));
    if (found > 0) return found;
    // Without a blockette 1000 a record ends where the next one begins, or the file.
    const std::int64_t left = size_ - offset;
    const bool is_length = left >= MINRECLEN && left <= kMostRecordBytes && (left & (left - 1)) == 0;
    return is_length && !growing_ ? left : left + 1;
}

/// Where the next record begins, at `from` at the earliest; the file's end if none does. Between records more is asked
/// of a header than behind one: a date, and that the record is whole.
std::int64_t MiniSeedScanner::find_record(std::int64_t from) {
    while (from + kMiniSeed3HeaderBytes <= size_) {
        const std::span<const char> bytes = at(from, kMostRecordBytes);
        const std::size_t end = bytes.size() - kMiniSeed3HeaderBytes + 1;
        std::size_t i = 0;
        const auto begins_at = [&](std::size_t place) {
            const auto header = bytes.subspan(place);
            if (header[0] == 'M' && is_miniseed3(header)) return true;
            return MS_ISDATAINDICATOR(header[6]) && is_miniseed2(header) && is_big_endian(header).has_value();
        };
        while (i < end && !begins_at(i)) ++i;
        from += static_cast<std::int64_t>(i);
        if (i == end) continue;
        const auto length = length_of(from);
        if (length && *length <= size_ - from) return from;
        ++from;
    }
    return size_;
}

void MiniSeedScanner::skip_to(std::int64_t offset) {
    if (scan_.skipped_blocks++ == 0) scan_.first_skipped = scan_.offset;
    scan_.skipped_bytes += offset - scan_.offset;
    scan_.offset = offset;
}

std::optional<MiniSeedHeader> MiniSeedScanner::next() {
    if (scan_.offset >= size_ && (scan_.any || growing_)) return std::nullopt;
    auto length = scan_.offset < size_ ? length_of(scan_.offset) : std::nullopt;
    if (!length) {
        const std::int64_t left = size_ - scan_.offset;
        if (left < kFixedBytes && !growing_ && begins_like_record(at(scan_.offset, left))) refuse_short(scan_.offset);
        const std::int64_t found = find_record(scan_.offset + 1);
        if (found >= size_ && growing_) return std::nullopt;  // a record's begin, perhaps
        if (found >= size_ && !scan_.any) refuse_short(scan_.offset);
        skip_to(std::min(found, size_));
        if (scan_.offset >= size_) return std::nullopt;
        length = length_of(scan_.offset);
    }
    if (*length > size_ - scan_.offset && growing_ && *length <= kMostRecordBytes) return std::nullopt;
    if (*length > size_ - scan_.offset) refuse_short(scan_.offset);
    if (*length > kMostRecordBytes)
        throw io::BadFile(path_,
                          fmt::format("the record at byte {} has {} bytes, and more than {} are not read; cut it "
                                      "into shorter ones",
                                      scan_.offset, *length, kMostRecordBytes));
    scan_.any = true;
    MiniSeedHeader header{.block = {.offset = scan_.offset, .bytes = *length}, .name = {}, .source = {}};
    const std::span<char> record = at(scan_.offset, *length);
    const auto wrong = is_miniseed3(record) ? parse_miniseed3(record, header) : parse_miniseed2(record, header);
    if (wrong)
        throw io::BadFile(path_, fmt::format("the record at byte {} {}; restore it, or cut it out, which leaves a gap",
                                             scan_.offset, *wrong));
    scan_.offset += *length;
    return header;
}

void silence_libmseed() {
    const auto say_nothing = [](char*) {};
    ms_loginit(say_nothing, nullptr, say_nothing, nullptr);
}

std::optional<std::string> decode_miniseed(std::span<char> record, const MiniSeedBlock& block,
                                           std::vector<float>& samples) {
    return block.version == 3 ? decode_miniseed3(record, samples) : decode_miniseed2(record, block.samples, samples);
}

}  // namespace espalier::bench::seismic
