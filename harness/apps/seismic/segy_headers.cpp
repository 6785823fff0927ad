// The headers of SEG-Y, in big-endian order. Read here and not through segyio, which takes numbers of samples for
// signed and knows nothing of clocks, delays or dead traces.

#include "harness/apps/seismic/segy_headers.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/apps/seismic/formats.hpp"
#include "harness/base/text/counted.hpp"

namespace espalier::bench::seismic {
namespace {

constexpr std::int64_t kTextBytes = 3200, kBinaryBytes = 400, kTraceHeaderBytes = 240;

/// A header's bytes; fields by their place in the standard, which counts bytes from 1.
template <std::size_t Size>
struct HeaderBytes {
    std::array<unsigned char, Size> bytes{};
    int first = 1;  ///< the standard's number of the first byte

    [[nodiscard]] int unsigned16(int at) const {
        const auto i = static_cast<std::size_t>(at - first);
        return bytes[i] << 8 | bytes[i + 1];
    }
    [[nodiscard]] int signed16(int at) const { return static_cast<std::int16_t>(unsigned16(at)); }
    [[nodiscard]] std::uint32_t unsigned32(int at) const {
        return static_cast<std::uint32_t>(unsigned16(at)) << 16 | static_cast<std::uint32_t>(unsigned16(at + 2));
    }
};
using BinaryHeader = HeaderBytes<kBinaryBytes>;
using TraceHeader = HeaderBytes<kTraceHeaderBytes>;

template <std::size_t Size>
bool read_at(const io::File& file, std::int64_t offset, HeaderBytes<Size>& header) {
    return pread(fileno(file.get()), header.bytes.data(), Size, offset) == static_cast<ssize_t>(Size);
}

struct SampleFormat {
    int bytes;
    bool is_read;
    const char* name;
};

SampleFormat sample_format(int format) {
    switch (format) {
        case 1: return {4, true, "IBM floats"};
        case 2: return {4, true, "integers of 4 bytes"};
        case 3: return {2, true, "integers of 2 bytes"};
        case 4: return {4, false, "fixed-point numbers with gain"};
        case 5: return {4, true, "IEEE floats"};
        case 6: return {8, false, "IEEE floats of 8 bytes"};
        case 7: return {3, false, "integers of 3 bytes"};
        case 8: return {1, true, "integers of 1 byte"};
        case 9: return {8, false, "integers of 8 bytes"};
        case 10: return {4, false, "unsigned integers of 4 bytes"};
        case 11: return {2, false, "unsigned integers of 2 bytes"};
        case 12: return {8, false, "unsigned integers of 8 bytes"};
        case 15: return {3, false, "unsigned integers of 3 bytes"};
        case 16: return {1, false, "unsigned integers of 1 byte"};
        default: return {0, false, ""};
    }
}

void check_format(const std::string& path, int format) {
    const SampleFormat what = sample_format(format);
    if (what.is_read) return;
    if (what.bytes > 0)
        throw io::BadFile(path,
                          fmt::format("its samples are of format {}, {}, which are not read; convert it to format "
                                      "5 (IEEE floats)",
                                      format, what.name));
    if ((format & 0xFF) == 0 && sample_format(format >> 8).bytes > 0)
        throw io::BadFile(path, "is in little-endian byte order; convert it to SEG-Y's big-endian order");
    throw io::BadFile(
        path, fmt::format("its binary header names format {}, which SEG-Y has not; is it a SEG-Y file?", format));
}

/// What revision 2 may add and would shift or change everything that follows.
void check_revision(const std::string& path, const BinaryHeader& binary) {
    if (binary.signed16(3505) < 0)
        throw io::BadFile(path,
                          "does not say how many extended textual headers it has; write their number to bytes "
                          "3505-3506");
    if (binary.bytes[3501 - 3201] < 2) return;
    if (binary.unsigned32(3297) == 0x04030201)
        throw io::BadFile(path, "is in little-endian byte order; convert it to SEG-Y's big-endian order");
    if (binary.unsigned32(3507) != 0)
        throw io::BadFile(path,
                          "has additional trace headers (bytes 3507-3510), which are not read; convert it to "
                          "revision 1");
    if (binary.unsigned32(3269) > 65535)
        throw io::BadFile(path, fmt::format("has {} samples a trace, and more than 65535 are not read; cut it into "
                                            "shorter files",
                                            binary.unsigned32(3269)));
}

[[noreturn]] void refuse_trace(const std::string& path, std::int64_t trace, const std::string& problem) {
    throw io::BadFile(path, fmt::format("trace {}: {}", trace + 1, problem));
}

/// Whole seconds since 1970; nothing for a header without a date.
std::optional<std::int64_t> clock_of(const std::string& path, std::int64_t trace, const TraceHeader& header) {
    const int year = header.unsigned16(157), day = header.unsigned16(159);
    if (year < 1900 || day < 1 || day > 366) return std::nullopt;
    const int hour = header.unsigned16(161), minute = header.unsigned16(163), second = header.unsigned16(165);
    if (year > 2200 || hour > 23 || minute > 59 || second > 60)
        refuse_trace(
            path, trace,
            fmt::format("its time is {}, day {}, {}:{}:{} (bytes 157-166), which is none; correct it, or write "
                        "zeros to say that it is not known",
                        year, day, hour, minute, second));
    using namespace std::chrono;
    const sys_days date = sys_days(std::chrono::year(year) / January / 1) + days(day - 1);
    return std::int64_t{date.time_since_epoch().count()} * 86400 + hour * 3600 + minute * 60 + second;
}

/// The delay of recording, milliseconds times or divided by the scalar of times.
std::int64_t delay_of(const std::string& path, std::int64_t trace, const TraceHeader& header) {
    const int scalar = header.signed16(215);
    const int size = std::abs(scalar);
    if (size != 0 && size != 1 && size != 10 && size != 100 && size != 1000 && size != 10000)
        refuse_trace(path, trace,
                     fmt::format("its scalar of times is {} (bytes 215-216), and SEG-Y has 1, 10, 100, 1000 and 10000, "
                                 "negative to divide; correct it",
                                 scalar));
    const std::int64_t nanoseconds = std::int64_t{header.signed16(109)} * 1'000'000;
    return scalar > 1 ? nanoseconds * scalar : scalar < -1 ? nanoseconds / size : nanoseconds;
}

SegyTrace trace_of(const std::string& path, std::int64_t trace, const TraceHeader& header, SegyHeaders& file) {
    const int samples = header.unsigned16(115), interval = header.unsigned16(117);
    if (samples != 0 && samples != file.samples)
        refuse_trace(path, trace,
                     fmt::format("has {} by its header (bytes 115-116), and the binary header says {}; traces of "
                                 "different lengths are not read: pad them with zeros",
                                 counted(samples, "sample"), file.samples));
    if (interval != 0 && file.interval != 0 && interval != file.interval)
        refuse_trace(path, trace,
                     fmt::format("its sampling interval is {} microseconds (bytes 117-118), and that of what stands "
                                 "before it {}; correct them",
                                 interval, file.interval));
    if (interval != 0) file.interval = interval;
    // The headers of dead traces are often left empty.
    const int kind = header.signed16(29);
    if (const SegyTrace dead{{}, 0, kind}; !dead.is_recording()) return dead;
    // 1: local, 3: other, 5: GPS, whose seconds differ from UTC's.
    const int basis = header.unsigned16(167);
    if (basis == 1 || basis == 3 || basis == 5) file.utc = false;
    return {clock_of(path, trace, header), delay_of(path, trace, header), kind};
}

/// All recordings know their time, or none; what is no recording gets the time of the first that is one.
void settle_clocks(const std::string& path, std::vector<SegyTrace>& traces) {
    const auto is_recording = [](const SegyTrace& trace) { return trace.is_recording(); };
    const auto first = std::find_if(traces.begin(), traces.end(), is_recording);
    if (first == traces.end()) throw io::BadFile(path, "holds no recording: all its traces are flagged otherwise");
    const std::int64_t number = first - traces.begin();
    for (std::size_t t = 0; t < traces.size(); ++t) {
        if (!traces[t].is_recording())
            traces[t] = {first->clock, first->delay, traces[t].kind};
        else if (traces[t].clock.has_value() != first->clock.has_value())
            refuse_trace(
                path, static_cast<std::int64_t>(t),
                fmt::format("says {} time, and trace {} {}; write the time to bytes 157-166 of all traces, or "
                            "zeros to all",
                            traces[t].clock ? "its" : "no", number + 1, traces[t].clock ? "does not" : "does"));
    }
}

}  // namespace

SegyHeaders read_segy_headers(const std::string& path) {
    check_is_file(path);
    const io::File file = io::open_for_reading(path);
    BinaryHeader binary{.first = static_cast<int>(kTextBytes) + 1};
    if (!read_at(file, kTextBytes, binary)) throw io::BadFile(path, "is too short for a SEG-Y file");
    SegyHeaders headers;
    headers.format = binary.unsigned16(3225);
    headers.samples = binary.unsigned16(3221);
    headers.interval = binary.unsigned16(3217);
    if (headers.samples == 0)
        throw io::BadFile(path, fmt::format("its binary header names 0 samples a trace, of format {}; is it a SEG-Y "
                                            "file?",
                                            headers.format));
    check_format(path, headers.format);
    check_revision(path, binary);
    headers.trace0 = static_cast<long>(kTextBytes + kBinaryBytes + kTextBytes * binary.signed16(3505));
    headers.trace_bytes = headers.samples * sample_format(headers.format).bytes;
    struct stat status {};
    fstat(fileno(file.get()), &status);
    const std::int64_t bytes = status.st_size - headers.trace0, step = kTraceHeaderBytes + headers.trace_bytes;
    if (bytes > 0 && bytes % step != 0)
        throw io::BadFile(path, fmt::format("its size is not that of a whole number of traces of {}: it is short; "
                                            "restore it",
                                            counted(headers.samples, "sample")));
    if (bytes <= 0) throw io::BadFile(path, "holds no traces");
    headers.traces.reserve(static_cast<std::size_t>(bytes / step));
    for (std::int64_t t = 0; t < bytes / step; ++t) {
        TraceHeader trace;
        if (!read_at(file, headers.trace0 + t * step, trace)) refuse_trace(path, t, "cannot be read; restore it");
        headers.traces.push_back(trace_of(path, t, trace, headers));
    }
    settle_clocks(path, headers.traces);
    return headers;
}

const char* segy_kind(int kind) {
    constexpr std::array kKinds{"dead", "a dummy", "a time break", "an uphole", "a sweep", "a timing", "a water break"};
    return kKinds[static_cast<std::size_t>(kind - 2)];
}

}  // namespace espalier::bench::seismic
