// SEG-Y. Samples are read and converted by Equinor's segyio, which knows its formats and byte order. Each trace begins
// when its own header says: clock, in whole seconds, and delay of recording, in milliseconds.

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
#include "harness/apps/seismic/segy_headers.hpp"
#include "harness/base/text/counted.hpp"

namespace espalier::bench::seismic {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr double kLatestTrace = 0x1p48;

struct CloseSegy {
    void operator()(segy_file* file) const { segy_close(file); }
};
using SegyFile = std::unique_ptr<segy_file, CloseSegy>;

/// Integers to floats in place, from the back because floats are no narrower.
template <class T>
void widen(float* values, int count) {
    const auto* const bytes = reinterpret_cast<const char*>(values);
    for (int i = count - 1; i >= 0; --i) {
        T value;
        std::memcpy(&value, bytes + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
        values[i] = static_cast<float>(value);
    }
}

class SegyRecord final : public Record {
public:
    SegyRecord(const std::vector<std::string>& paths, double rate) {
        format_ = "segy";
        for (const std::string& path : paths) add(path, rate);
        for (std::size_t f = 0; f < files_.size(); ++f) samples_ = std::max(samples_, end_of(f));
        find_gaps();
        note_traces();
        if (!files_.front().headers.traces.front().clock) return;
        const std::int64_t start = files_.front().start;
        start_ = start % 1'000'000'000 == 0
                     ? fmt::format("{:%FT%T}", std::chrono::sys_seconds(std::chrono::seconds(start / 1'000'000'000)))
                     : iso_time(start);
        if (!files_.front().headers.utc) return;
        start_ += "Z";
        start_time_ = start;
    }

protected:
    void read_within(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) override {
        for (std::size_t f = 0; f < files_.size(); ++f) {
            if (files_[f].first >= first + count || end_of(f) <= first) continue;
            open(f);
            for (std::int64_t r = 0; r < receivers_; ++r) read_trace(f, r, first, count, to + r * stride);
        }
    }

    std::string file_of(std::int64_t receiver, std::int64_t sample) const override {
        for (std::size_t f = 0; f < files_.size(); ++f) {
            const std::int64_t begin = begin_of(f, receiver);
            if (begin <= sample && sample < begin + files_[f].headers.samples) return files_[f].path;
        }
        return files_.front().path;
    }

private:
    struct File {
        std::string path;
        SegyHeaders headers;
        std::int64_t start = 0;              ///< of its earliest trace, in nanoseconds
        std::int64_t first = 0;              ///< the sample of the record that the earliest trace begins with
        std::vector<std::int64_t> lateness;  ///< per trace, in samples after the earliest; empty: all begin together
        std::int64_t latest = 0;             ///< the largest of them
    };

    [[nodiscard]] std::int64_t begin_of(std::size_t file, std::int64_t trace) const {
        const File& what = files_[file];
        return what.first + (what.lateness.empty() ? 0 : what.lateness[static_cast<std::size_t>(trace)]);
    }

    [[nodiscard]] std::int64_t end_of(std::size_t file) const {
        return files_[file].first + files_[file].latest + files_[file].headers.samples;
    }

    void add(const std::string& path, double rate) {
        File file{.path = path, .headers = read_segy_headers(path), .lateness = {}};
        const auto traces = static_cast<std::int64_t>(file.headers.traces.size());
        const double own_rate = rate_of(file, rate);
        if (files_.empty()) {
            receivers_ = traces;
            rate_ = own_rate;
        }
        if (traces != receivers_)
            throw io::BadFile(path, fmt::format("has {}, but {} has {}; every file must hold every receiver",
                                                counted(traces, "trace"), files_.front().path, receivers_));
        if (std::abs(own_rate - rate_) > 1e-6 * rate_)
            throw io::BadFile(
                path, fmt::format("has {} samples per second, but {} has {}", own_rate, files_.front().path, rate_));
        place_traces(file);
        file.first = first_sample(file);
        files_.push_back(std::move(file));
    }

    /// The rate that the user names is the exact one of an interval that headers round to whole microseconds.
    static double rate_of(const File& file, double rate) {
        const double interval = file.headers.interval;
        if (interval == 0 && rate == 0)
            throw io::BadFile(file.path, "its headers name no sampling interval; give --rate");
        if (interval == 0 || (rate > 0 && std::abs(1e6 / rate - interval) <= 0.5)) return rate;
        check_rate(file.path, 1e6 / interval, rate);
        return 1e6 / interval;
    }

    void place_traces(File& file) const {
        const auto& traces = file.headers.traces;
        file.start = traces.front().start();
        for (const SegyTrace& trace : traces) file.start = std::min(file.start, trace.start());
        std::vector<std::int64_t> lateness;
        for (std::size_t t = 0; t < traces.size(); ++t) {
            const double late = static_cast<double>(traces[t].start() - file.start) / kNanosecondsPerSecond * rate_;
            if (!(late < kLatestTrace))
                throw io::BadFile(file.path, fmt::format("trace {}: begins {:.6g} samples after the first one; is its "
                                                         "time (bytes 157-166) damaged? Correct it",
                                                         t + 1, late));
            lateness.push_back(std::llround(late));
        }
        file.latest = *std::max_element(lateness.begin(), lateness.end());
        if (file.latest > 0) file.lateness = std::move(lateness);
    }

    /// Where a file begins. A clock in whole seconds cannot tell a gap of less than one; it has milliseconds where the
    /// delays of recording, which add to it, differ from file to file.
    [[nodiscard]] std::int64_t first_sample(const File& file) const {
        if (files_.empty()) return 0;
        const File& before = files_.back();
        const std::int64_t end = before.first + before.headers.samples;
        if (!file.headers.traces.front().clock || !files_.front().headers.traces.front().clock) return end;
        const double late = static_cast<double>(file.start - files_.front().start) / kNanosecondsPerSecond * rate_ -
                            static_cast<double>(end);
        const bool whole_seconds = (file.start - files_.front().start) % 1'000'000'000 == 0;
        const double tolerance = whole_seconds ? rate_ : std::max(0.5, 1e-3 * rate_);
        if (std::abs(late) <= tolerance) return end;
        if (!(std::abs(late) < kLatestTrace))
            throw io::BadFile(file.path, fmt::format("begins {:.6g} samples after the files ahead of it end; is its "
                                                     "time (bytes 157-166) damaged? Correct it",
                                                     late));
        return end + std::llround(late);
    }

    void find_gaps() {
        const bool alike = std::all_of(files_.begin(), files_.end(), [](const File& file) {
            const auto& traces = file.headers.traces;
            return file.lateness.empty() &&
                   std::all_of(traces.begin(), traces.end(), [](const SegyTrace& t) { return t.is_recording(); });
        });
        if (alike) {
            std::vector<Segment> segments;
            for (const File& file : files_) segments.push_back({file.path, file.first, file.headers.samples});
            gaps_ = gaps_between(segments);
            return;
        }
        for (std::int64_t r = 0; r < receivers_; ++r) find_gaps_of(r);
    }

    void find_gaps_of(std::int64_t trace) {
        std::int64_t end = 0, known = 0;  // of the files so far; of what may be summed of them
        const auto note = [&](std::int64_t until) {
            if (until > known) gaps_.push_back({known, until - known, trace});
        };
        for (std::size_t f = 0; f < files_.size(); ++f) {
            const std::int64_t begin = begin_of(f, trace);
            if (begin < end)
                throw io::BadFile(files_[f].path,
                                  fmt::format("trace {}: begins at sample {}, before the file ahead of it ends, at {}; "
                                              "give each file once and in order of time",
                                              trace + 1, begin, end));
            end = begin + files_[f].headers.samples;
            if (!files_[f].headers.traces[static_cast<std::size_t>(trace)].is_recording()) continue;
            note(begin);
            known = end;
        }
        note(samples_);
    }

    void note_traces() {
        for (const File& file : files_) {
            const auto& traces = file.headers.traces;
            for (std::size_t t = 0; t < traces.size(); ++t)
                if (!traces[t].is_recording())
                    notes_.push_back(fmt::format("{}: trace {} is flagged as {} (identification code {}): zeros",
                                                 file.path, t + 1, segy_kind(traces[t].kind), traces[t].kind));
            if (!file.lateness.empty())
                notes_.push_back(
                    fmt::format("{}: by their clocks and delays of recording, which are heeded, traces begin up to "
                                "{:.3f} s after each other",
                                file.path, static_cast<double>(file.latest) / rate_));
        }
    }

    void open(std::size_t index) {
        if (opened_ && opened_index_ == index) return;
        const std::string& path = files_[index].path;
        io::open_for_reading(path);  // for its messages
        opened_.reset(segy_open(path.c_str(), "rb"));
        if (!opened_ || segy_set_format(opened_.get(), files_[index].headers.format) != SEGY_OK)
            throw io::BadFile(path, "cannot be opened");
        opened_index_ = index;
    }

    /// Writes what a file holds of [first, first + count) of a trace.
    void read_trace(std::size_t index, std::int64_t trace, std::int64_t first, std::int64_t count, float* row) {
        const SegyHeaders& headers = files_[index].headers;
        if (!headers.traces[static_cast<std::size_t>(trace)].is_recording()) return;
        const std::int64_t begin = begin_of(index, trace);
        const std::int64_t from = std::max(first, begin), until = std::min(first + count, begin + headers.samples);
        if (from >= until) return;
        float* const to = row + (from - first);
        const auto wanted = static_cast<int>(until - from);
        if (segy_readsubtr(opened_.get(), static_cast<int>(trace), static_cast<int>(from - begin),
                           static_cast<int>(until - begin), 1, to, nullptr, headers.trace0,
                           headers.trace_bytes) != SEGY_OK ||
            segy_to_native(headers.format, wanted, to) != SEGY_OK)
            throw io::BadFile(files_[index].path, fmt::format("trace {} cannot be read", trace + 1));
        switch (headers.format) {
            case SEGY_SIGNED_INTEGER_4_BYTE: widen<std::int32_t>(to, wanted); break;
            case SEGY_SIGNED_SHORT_2_BYTE: widen<std::int16_t>(to, wanted); break;
            case SEGY_SIGNED_CHAR_1_BYTE: widen<std::int8_t>(to, wanted); break;
            default: break;  // segyio has made IBM's and IEEE's floats the machine's
        }
    }

    std::vector<File> files_;
    SegyFile opened_;
    std::size_t opened_index_ = 0;
};

}  // namespace

std::unique_ptr<Record> open_segy(const std::vector<std::string>& paths, const RecordOptions& options) {
    return std::make_unique<SegyRecord>(paths, options.rate);
}

}  // namespace espalier::bench::seismic
