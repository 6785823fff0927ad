// Records of miniSEED 3, as the FDSN defines them (docs.fdsn.org/projects/miniseed3): everything little-endian but the
// Steim frames. libmseed 2 knows the encodings, but not the record.

#include "harness/apps/seismic/miniseed3.hpp"

#include <fmt/format.h>
#include <libmseed.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace espalier::bench::seismic {
namespace {

template <class T>
T little_endian(std::span<const char> bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);  // as the processors are that this is built for
    return value;
}

constexpr std::size_t kNanosecond = 4, kYear = 8, kDay = 10, kHour = 12, kMinute = 13, kSecond = 14, kEncoding = 15,
                      kRate = 16, kSamples = 24, kChecksum = 28, kIdentifierBytes = 33, kExtraBytes = 34,
                      kPayloadBytes = 36, kIdentifier = 40;
constexpr int kFirstYear = 1678, kLastYear = 2261;  // that nanoseconds in 64 bits reach

unsigned byte_at(std::span<const char> bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

/// CRC-32C of a record whose own field counts as zeros.
std::uint32_t checksum(std::span<const char> record) {
    boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
    crc.process_bytes(record.data(), kChecksum);
    crc.process_bytes("\0\0\0\0", 4);
    crc.process_bytes(record.data() + kChecksum + 4, record.size() - kChecksum - 4);
    return crc.checksum();
}

std::int64_t time_of(std::span<const char> record) {
    using namespace std::chrono;
    const sys_days date = sys_days(year(little_endian<std::uint16_t>(record, kYear)) / January / 1) +
                          days(little_endian<std::uint16_t>(record, kDay) - 1);
    const std::int64_t seconds = std::int64_t{date.time_since_epoch().count()} * 86400 + byte_at(record, kHour) * 3600 +
                                 byte_at(record, kMinute) * 60 + byte_at(record, kSecond);
    return seconds * 1'000'000'000 + little_endian<std::uint32_t>(record, kNanosecond);
}

/// "FDSN:XX_ST00__H_H_Z" -> "XX.ST00..HHZ"; codes of several letters keep what is between them. Others as they are.
std::string name_of(const std::string& source) {
    if (!source.starts_with("FDSN:")) return source;
    std::vector<std::string> parts(1);
    for (const char c : source.substr(5))
        if (c == '_')
            parts.emplace_back();
        else
            parts.back() += c;
    if (parts.size() != 6) return source;
    const bool short_codes =
        std::all_of(parts.begin() + 3, parts.end(), [](const std::string& code) { return code.size() <= 1; });
    const char* const between = short_codes ? "" : "_";
    return fmt::format("{}.{}.{}.{}{}{}{}{}", parts[0], parts[1], parts[2], parts[3], between, parts[4], between,
                       parts[5]);
}

std::string other_number(std::int64_t got, std::int64_t announced) {
    return fmt::format("holds {} samples and announces {}", got, announced);
}

/// Samples that stand one after the other as T.
template <class T>
std::optional<std::string> decode_plain(std::span<const char> payload, std::int64_t count,
                                        std::vector<float>& samples) {
    const std::size_t held = payload.size() / sizeof(T);
    if (static_cast<std::size_t>(count) > held) return other_number(static_cast<std::int64_t>(held), count);
    samples.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = static_cast<float>(little_endian<T>(payload, i * sizeof(T)));
    return std::nullopt;
}

/// By libmseed, as the data of a record of miniSEED 2 that has nothing else in it.
std::optional<std::string> decode_steim(std::span<const char> payload, int encoding, std::int64_t count,
                                        std::vector<float>& samples) {
    constexpr std::size_t kFrame = 64;
    const auto most = static_cast<std::int64_t>(payload.size() / kFrame) * 15 * (encoding == DE_STEIM1 ? 4 : 7);
    if (count > most) return other_number(most, count);
    std::vector<char> bytes(kFrame);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    MSRecord* const record = msr_init(nullptr);
    const std::unique_ptr<MSRecord, void (*)(MSRecord*)> owner(record, [](MSRecord* it) { msr_free(&it); });
    if (record == nullptr) throw std::bad_alloc();
    record->fsdh = static_cast<fsdh_s*>(std::calloc(1, sizeof(fsdh_s)));
    if (record->fsdh == nullptr) throw std::bad_alloc();
    record->fsdh->data_offset = kFrame;
    record->fsdh->numsamples = static_cast<std::uint16_t>(std::min<std::int64_t>(count, 65535));
    record->record = bytes.data();
    record->reclen = static_cast<std::int32_t>(bytes.size());
    record->samplecnt = count;
    record->encoding = static_cast<std::int8_t>(encoding);
    const int got = msr_unpack_data(record, ms_bigendianhost() == 0 ? 1 : 0, 0);
    if (got < 0) return "cannot be decoded: it is damaged";
    if (got != count) return other_number(got, count);
    const auto* const values = static_cast<const std::int32_t*>(record->datasamples);
    samples.assign(values, values + count);
    return check_steim(payload, true, values[count - 1]);
}

}  // namespace

bool is_miniseed3(std::span<const char> bytes) {
    return bytes.size() >= static_cast<std::size_t>(kMiniSeed3HeaderBytes) && bytes[0] == 'M' && bytes[1] == 'S' &&
           bytes[2] == 3 && byte_at(bytes, kHour) <= 23 && byte_at(bytes, kMinute) <= 59 &&
           byte_at(bytes, kSecond) <= 60;
}

std::int64_t miniseed3_bytes(std::span<const char> bytes) {
    return kMiniSeed3HeaderBytes + byte_at(bytes, kIdentifierBytes) + little_endian<std::uint16_t>(bytes, kExtraBytes) +
           std::int64_t{little_endian<std::uint32_t>(bytes, kPayloadBytes)};
}

std::optional<std::string> parse_miniseed3(std::span<const char> record, MiniSeedHeader& header) {
    const std::uint32_t announced = little_endian<std::uint32_t>(record, kChecksum), found = checksum(record);
    if (announced != found)
        return fmt::format("has the checksum {:08X} and announces {:08X}: it is damaged", found, announced);
    const int year = little_endian<std::uint16_t>(record, kYear), day = little_endian<std::uint16_t>(record, kDay);
    if (year < kFirstYear || year > kLastYear || day < 1 || day > 366)
        return fmt::format("begins on day {} of the year {}: its clock is damaged", day, year);
    const auto rate = little_endian<double>(record, kRate);
    header.block.version = 3;
    header.source.assign(record.data() + kIdentifier, byte_at(record, kIdentifierBytes));
    header.name = name_of(header.source);
    header.block.start = time_of(record);
    header.block.rate = rate < 0 ? -1 / rate : rate;
    if (!std::isfinite(header.block.rate)) header.block.rate = 0;
    header.block.samples = little_endian<std::uint32_t>(record, kSamples);
    header.text = byte_at(record, kEncoding) == DE_ASCII;
    return std::nullopt;
}

std::optional<std::string> check_steim(std::span<const char> frames, bool big_endian, std::int32_t last) {
    if (frames.size() < 12) return "is too short for a frame";
    std::uint32_t announced = 0;
    for (std::size_t i = 0; i < 4; ++i) announced = announced << 8 | byte_at(frames, 8 + (big_endian ? i : 3 - i));
    if (static_cast<std::int32_t>(announced) == last) return std::nullopt;
    return fmt::format("ends with the sample {}, and its first frame announces {} (Xn): it is damaged", last,
                       static_cast<std::int32_t>(announced));
}

std::optional<std::string> decode_miniseed3(std::span<const char> record, std::vector<float>& samples) {
    const std::span<const char> payload = record.last(little_endian<std::uint32_t>(record, kPayloadBytes));
    const std::int64_t count = little_endian<std::uint32_t>(record, kSamples);
    switch (const int encoding = static_cast<int>(byte_at(record, kEncoding)); encoding) {
        case DE_INT16: return decode_plain<std::int16_t>(payload, count, samples);
        case DE_INT32: return decode_plain<std::int32_t>(payload, count, samples);
        case DE_FLOAT32: return decode_plain<float>(payload, count, samples);
        case DE_FLOAT64: return decode_plain<double>(payload, count, samples);
        case DE_STEIM1:
        case DE_STEIM2: return decode_steim(payload, encoding, count, samples);
        default: return fmt::format("has samples of encoding {}, which is not read", encoding);
    }
}

}  // namespace espalier::bench::seismic
