// SEG-Y through Equinor's segyio, which knows its sample formats and byte orders.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <segyio/segy.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/apps/seismic/formats.hpp"
#include "harness/text/counted.hpp"

namespace espalier::bench::seismic {
namespace {

struct CloseSegy {
    void operator()(segy_file* file) const { segy_close(file); }
};
using SegyFile = std::unique_ptr<segy_file, CloseSegy>;

/// What the headers of a file say.
struct Header {
    int samples = 0, traces = 0, format = 0;
    long trace0 = 0;
    double rate = 0;
    std::optional<double> start;  ///< seconds since 1970 of its first sample, cut off to whole ones by the format

    [[nodiscard]] int trace_bytes() const { return segy_trsize(format, samples); }
};

SegyFile open_file(const std::string& path) {
    io::open_for_reading(path);  // for its messages
    SegyFile file(segy_open(path.c_str(), "rb"));
    if (!file) throw io::BadFile(path, "cannot be opened");
    return file;
}

int field(const char* trace_header, SEGY_FIELD name) {
    std::int32_t value = 0;
    segy_get_field(trace_header, name, &value);
    return value;
}

std::optional<double> start_of(const char* trace_header) {
    const int year = field(trace_header, SEGY_TR_YEAR_DATA_REC), day = field(trace_header, SEGY_TR_DAY_OF_YEAR);
    if (year < 1900 || day < 1 || day > 366) return std::nullopt;
    using namespace std::chrono;
    const sys_days date = sys_days(std::chrono::year(year) / January / 1) + days(day - 1);
    return static_cast<double>(date.time_since_epoch().count()) * 86400 +
           field(trace_header, SEGY_TR_HOUR_OF_DAY) * 3600 + field(trace_header, SEGY_TR_MIN_OF_HOUR) * 60 +
           field(trace_header, SEGY_TR_SEC_OF_MIN);
}

Header read_header(const std::string& path, segy_file* file) {
    char binary[SEGY_BINARY_HEADER_SIZE] = {};
    if (segy_binheader(file, binary) != SEGY_OK) throw io::BadFile(path, "is too short for a SEG-Y file");
    Header header;
    header.samples = segy_samples(binary);
    header.format = segy_format(binary);
    header.trace0 = segy_trace0(binary);
    if (header.samples <= 0 || header.trace_bytes() <= 0)
        throw io::BadFile(path, fmt::format("its binary header names {} samples of format {}; is it a SEG-Y file in "
                                            "big-endian order?",
                                            header.samples, header.format));
    if (segy_set_format(file, header.format) != SEGY_OK ||
        segy_traces(file, &header.traces, header.trace0, header.trace_bytes()) != SEGY_OK)
        throw io::BadFile(path, "its size is not that of a whole number of traces: it is short; restore it");
    char trace[SEGY_TRACE_HEADER_SIZE] = {};
    if (segy_traceheader(file, 0, trace, header.trace0, header.trace_bytes()) != SEGY_OK)
        throw io::BadFile(path, "holds no traces");
    float interval = 0;  // microseconds
    if (segy_sample_interval(file, 0, &interval) != SEGY_OK || !(interval > 0))
        throw io::BadFile(path, "its headers do not name one sampling interval; correct them");
    header.rate = 1e6 / static_cast<double>(interval);
    header.start = start_of(trace);
    return header;
}

class SegyRecord final : public Record {
public:
    explicit SegyRecord(const std::vector<std::string>& paths) {
        format_ = "segy";
        for (const std::string& path : paths) add(path);
        for (const Segment& segment : segments_) samples_ = segment.first + segment.samples;
        gaps_ = gaps_between(segments_);
        if (headers_.front().start)
            start_ = fmt::format(
                "{:%FT%TZ}",
                std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(*headers_.front().start))));
    }

protected:
    void read_within(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) override {
        const auto [begin, end] = segments_of(segments_, first, count);
        for (std::size_t s = begin; s < end; ++s) {
            const Segment& segment = segments_[s];
            const auto from = static_cast<int>(std::max(first, segment.first) - segment.first);
            const auto until =
                static_cast<int>(std::min(first + count, segment.first + segment.samples) - segment.first);
            float* const place = to + (segment.first + from - first);
            open(s);
            for (int r = 0; r < static_cast<int>(receivers_); ++r) read_piece(s, r, from, until, place + r * stride);
        }
    }

    std::string file_of(std::int64_t, std::int64_t sample) const override {
        return segments_[segments_of(segments_, sample, 1).first].path;
    }

private:
    void add(const std::string& path) {
        const SegyFile file = open_file(path);
        const Header header = read_header(path, file.get());
        if (segments_.empty()) {
            receivers_ = header.traces;
            rate_ = header.rate;
            // Formats of 1 and 2 bytes need no more room than floats; nothing here needs more.
            if (segy_trsize(header.format, 1) > static_cast<int>(sizeof(float)))
                throw io::BadFile(path,
                                  fmt::format("has samples of format {}, wider than 4 bytes; convert it to format "
                                              "5 (IEEE floats)",
                                              header.format));
        }
        if (header.traces != receivers_)
            throw io::BadFile(path, fmt::format("has {}, but {} has {}; every file must hold every receiver",
                                                counted(header.traces, "trace"), segments_.front().path, receivers_));
        if (std::abs(header.rate - rate_) > 1e-6 * rate_)
            throw io::BadFile(path, fmt::format("has {} samples per second, but {} has {}", header.rate,
                                                segments_.front().path, rate_));
        segments_.push_back({path, first_sample(header), header.samples});
        headers_.push_back(header);
    }

    /// Where a file begins. Its clock has whole seconds, so that what differs by less than one is no gap.
    std::int64_t first_sample(const Header& header) const {
        if (segments_.empty()) return 0;
        const std::int64_t end = segments_.back().first + segments_.back().samples;
        if (!header.start || !headers_.front().start) return end;
        const double late = *header.start - *headers_.front().start - static_cast<double>(end) / rate_;
        return std::abs(late) <= 1 ? end : end + static_cast<std::int64_t>(std::llround(late * rate_));
    }

    void open(std::size_t segment) {
        if (file_ && opened_ == segment) return;
        file_ = open_file(segments_[segment].path);
        segy_set_format(file_.get(), headers_[segment].format);
        opened_ = segment;
    }

    void read_piece(std::size_t segment, int trace, int from, int until, float* to) {
        const Header& header = headers_[segment];
        if (segy_readsubtr(file_.get(), trace, from, until, 1, to, nullptr, header.trace0, header.trace_bytes()) !=
                SEGY_OK ||
            segy_to_native(header.format, until - from, to) != SEGY_OK)
            throw io::BadFile(segments_[segment].path, fmt::format("trace {} cannot be read", trace + 1));
        switch (header.format) {
            case SEGY_SIGNED_INTEGER_4_BYTE: widen<std::int32_t>(to, until - from); break;
            case SEGY_SIGNED_SHORT_2_BYTE: widen<std::int16_t>(to, until - from); break;
            case SEGY_SIGNED_CHAR_1_BYTE: widen<std::int8_t>(to, until - from); break;
            default: break;  // segyio has made IBM's and IEEE's floats the machine's
        }
    }

    /// Integers to floats in place, from the back because floats are no narrower.
    template <class T>
    static void widen(float* values, int count) {
        const auto* const bytes = reinterpret_cast<const char*>(values);
        for (int i = count - 1; i >= 0; --i) {
            T value;
            std::memcpy(&value, bytes + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
            values[i] = static_cast<float>(value);
        }
    }

    std::vector<Segment> segments_;
    std::vector<Header> headers_;
    SegyFile file_;
    std::size_t opened_ = 0;
};

}  // namespace

std::unique_ptr<Record> open_segy(const std::vector<std::string>& paths, const RecordOptions& options) {
    auto record = std::make_unique<SegyRecord>(paths);
    check_rate(paths.front(), record->rate(), options.rate);
    return record;
}

}  // namespace espalier::bench::seismic
