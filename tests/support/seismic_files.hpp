#pragma once

// Seismic files as tests need them, damaged ones among them: SEG-Y and miniSEED 3 written byte by byte, miniSEED 2 by
// libmseed.

#include <libmseed.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace espalier::seismic_files {

struct Trace {
    std::vector<float> values;
    int year = 0, day = 0, hour = 0, minute = 0, second = 0;
    int delay = 0, scalar = 0;  ///< milliseconds, and what they are multiplied or divided by
    int kind = 1, basis = 0;    ///< identification code; time basis
    int samples = -1;           ///< in the header; -1: as many as there are
    int interval = -1;          ///< in the header; -1: the file's
};

struct Segy {
    int format = 5, interval = 10000;
    std::vector<Trace> traces;
};

inline void put_big(std::string& bytes, std::size_t at, std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i)
        bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> 8 * (count - 1 - i));
}

/// Samples as IEEE floats; of integers' formats as integers of that many bytes.
inline std::string segy_bytes(const Segy& file) {
    std::string bytes(3600, '\0');
    const std::size_t samples = file.traces.front().values.size();
    put_big(bytes, 3216, static_cast<std::uint64_t>(file.interval), 2);
    put_big(bytes, 3220, samples, 2);
    put_big(bytes, 3224, static_cast<std::uint64_t>(file.format), 2);
    const int width = file.format == 3 || file.format == 11   ? 2
                      : file.format == 8 || file.format == 16 ? 1
                      : file.format == 7                      ? 3
                      : file.format == 6                      ? 8
                                                              : 4;
    for (const Trace& trace : file.traces) {
        std::string header(240, '\0');
        const auto put = [&](std::size_t byte, int value) {
            put_big(header, byte - 1, static_cast<std::uint64_t>(value), 2);
        };
        put(29, trace.kind);
        put(109, trace.delay);
        put(115, trace.samples >= 0 ? trace.samples : static_cast<int>(trace.values.size()));
        put(117, trace.interval >= 0 ? trace.interval : file.interval);
        put(157, trace.year);
        put(159, trace.day);
        put(161, trace.hour);
        put(163, trace.minute);
        put(165, trace.second);
        put(167, trace.basis);
        put(215, trace.scalar);
        bytes += header;
        for (const float value : trace.values) {
            const std::size_t at = bytes.size();
            bytes.resize(at + static_cast<std::size_t>(width));
            const bool whole = file.format == 2 || file.format == 3 || file.format == 8;
            put_big(bytes, at,
                    whole ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                          : std::bit_cast<std::uint32_t>(value),
                    width);
        }
    }
    return bytes;
}

/// One channel's samples, and when they were taken.
struct Channel {
    std::string station = "R0", channel = "HHZ";
    double rate = 100;
    std::int64_t start = 0;  ///< microseconds after 2024-02-29T13:00:00Z
    std::vector<std::int32_t> values;
    int encoding = DE_STEIM2;
    bool big_endian = true;
    int record_bytes = 512;
};

constexpr std::int64_t kEpoch = 1'709'211'600;  ///< 2024-02-29T13:00:00Z

/// Records of miniSEED 2.
inline std::string miniseed2(const Channel& what) {
    MSRecord* record = msr_init(nullptr);
    std::snprintf(record->network, sizeof record->network, "XX");
    std::snprintf(record->station, sizeof record->station, "%s", what.station.c_str());
    std::snprintf(record->channel, sizeof record->channel, "%s", what.channel.c_str());
    record->dataquality = 'D';
    record->samprate = what.rate;
    record->reclen = what.record_bytes;
    record->encoding = static_cast<std::int8_t>(what.encoding);
    record->byteorder = what.big_endian ? 1 : 0;
    record->starttime = kEpoch * 1'000'000 + what.start;
    const bool text = what.encoding == DE_ASCII, floats = what.encoding == DE_FLOAT32;
    record->datasamples = std::malloc(what.values.size() * 4);
    for (std::size_t i = 0; i < what.values.size(); ++i)
        if (text)
            static_cast<char*>(record->datasamples)[i] = static_cast<char>(what.values[i]);
        else if (floats)
            static_cast<float*>(record->datasamples)[i] = static_cast<float>(what.values[i]);
        else
            static_cast<std::int32_t*>(record->datasamples)[i] = what.values[i];
    record->numsamples = record->samplecnt = static_cast<std::int64_t>(what.values.size());
    record->sampletype = text ? 'a' : floats ? 'f' : 'i';
    std::string bytes;
    std::int64_t packed = 0;
    msr_pack(
        record,
        [](char* data, int count, void* to) {
            static_cast<std::string*>(to)->append(data, static_cast<std::size_t>(count));
        },
        &bytes, &packed, 1, 0);
    msr_free(&record);
    return bytes;
}

/// CRC-32C, bit by bit.
inline std::uint32_t crc32c(const std::string& bytes) {
    std::uint32_t crc = 0xFFFFFFFF;
    for (const char c : bytes) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78 : 0);
    }
    return ~crc;
}

template <class T>
void put_little(std::string& bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// Makes a record's checksum that of its bytes.
inline void seal(std::string& record) {
    put_little<std::uint32_t>(record, 28, 0);
    put_little<std::uint32_t>(record, 28, crc32c(record));
}

/// One record of miniSEED 3 with some extra headers; `source` is its identifier.
inline std::string miniseed3(const Channel& what, const std::string& source) {
    std::string payload;
    if (what.encoding == DE_STEIM1 || what.encoding == DE_STEIM2) {
        Channel packed = what;
        packed.record_bytes = 65536;
        payload = miniseed2(packed).substr(64);
        while (payload.size() > 64 && payload.substr(payload.size() - 64) == std::string(64, '\0'))
            payload.resize(payload.size() - 64);
    } else {
        for (const std::int32_t value : what.values) {
            const std::size_t at = payload.size();
            const auto add = [&](auto x) {
                payload.resize(at + sizeof x);
                put_little(payload, at, x);
            };
            if (what.encoding == DE_INT16)
                add(static_cast<std::int16_t>(value));
            else if (what.encoding == DE_FLOAT32)
                add(static_cast<float>(value));
            else if (what.encoding == DE_FLOAT64)
                add(static_cast<double>(value));
            else if (what.encoding == DE_ASCII)
                add(static_cast<char>(value));
            else
                add(value);
        }
    }
    const std::string extra = R"({"FDSN":{"Time":{"Quality":100}}})";
    std::string record(40, '\0');
    record[0] = 'M', record[1] = 'S', record[2] = 3;
    const std::int64_t second_of_day = 13 * 3600 + what.start / 1'000'000;
    put_little(record, 4, static_cast<std::uint32_t>(what.start % 1'000'000 * 1000));
    put_little<std::uint16_t>(record, 8, 2024);
    put_little<std::uint16_t>(record, 10, static_cast<std::uint16_t>(60 + second_of_day / 86400));
    record[12] = static_cast<char>(second_of_day / 3600 % 24);
    record[13] = static_cast<char>(second_of_day / 60 % 60);
    record[14] = static_cast<char>(second_of_day % 60);
    record[15] = static_cast<char>(what.encoding);
    put_little(record, 16, what.rate);
    put_little(record, 24, static_cast<std::uint32_t>(what.values.size()));
    record[32] = 1;
    record[33] = static_cast<char>(source.size());
    put_little(record, 34, static_cast<std::uint16_t>(extra.size()));
    put_little(record, 36, static_cast<std::uint32_t>(payload.size()));
    record += source + extra + payload;
    seal(record);
    return record;
}

/// Whole numbers that differ from receiver to receiver and have small and large steps.
inline std::vector<std::int32_t> whole_numbers(int receiver, std::int64_t first, std::int64_t count) {
    std::vector<std::int32_t> values;
    for (std::int64_t k = first; k < first + count; ++k)
        values.push_back(
            static_cast<std::int32_t>((receiver * 1009 + k * 31) % 2003 - 1001 + (k % 17 == 0 ? 40000 : 0)));
    return values;
}

}  // namespace espalier::seismic_files
