#include "harness/apps/seismic/record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/seismic/formats.hpp"

namespace espalier::bench::seismic {
namespace {

std::string format_of(const std::string& path) {
    std::string ending = std::filesystem::path(path).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
    if (ending == ".json") return "index";
    if (ending == ".f32" || ending == ".raw" || ending == ".bin") return "raw";
    if (ending == ".sgy" || ending == ".segy") return "segy";
    if (ending == ".mseed" || ending == ".msd" || ending == ".miniseed") return "miniseed";
    throw io::BadFile(path, "its name does not tell its format; say --format raw, segy or miniseed");
}

std::string format_of(const std::vector<std::string>& paths, const RecordOptions& options) {
    const bool index = std::filesystem::path(paths.front()).extension() == ".json";
    if (options.format != "auto" && !index) return options.format;
    const std::string format = format_of(paths.front());
    for (const std::string& path : paths)
        if (format_of(path) != format) throw io::BadFile(path, "is of another format than " + paths.front());
    return format;
}

}  // namespace

void Record::clear_gaps(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) const {
    for (const Gap& gap : gaps_) {
        const std::int64_t from = std::max(gap.first, first), until = std::min(gap.first + gap.samples, first + count);
        const std::int64_t begin = std::max<std::int64_t>(gap.receiver, 0),
                           end = gap.receiver < 0 ? receivers_ : gap.receiver + 1;
        for (std::int64_t r = begin; r < end && from < until; ++r)
            std::fill(to + r * stride + from - first, to + r * stride + until - first, 0);
    }
}

void Record::read(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) {
    const auto zeros = [&](std::int64_t from, std::int64_t until) {
        for (std::int64_t r = 0; r < receivers_ && from < until; ++r)
            std::fill(to + r * stride + from - first, to + r * stride + until - first, 0);
    };
    const std::int64_t begin = std::clamp<std::int64_t>(0, first, first + count);
    const std::int64_t end = std::clamp<std::int64_t>(samples_, begin, first + count);
    zeros(first, begin);
    zeros(end, first + count);
    // Only where no file has samples: clearing everything first would write all memory twice.
    clear_gaps(first, count, to, stride);
    read_until_ = std::max(read_until_, end);
    if (begin == end) return;
    float* const inside = to + (begin - first);
    read_within(begin, end - begin, inside, stride);
    check_finite(begin, end - begin, inside, stride);
}

void Record::find_silences() {
    // Steps of the number of receivers that have a gap.
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
    for (const Gap& gap : gaps_) {
        const std::int64_t who = gap.receiver < 0 ? receivers_ : 1;
        steps.emplace_back(gap.first, who);
        steps.emplace_back(gap.first + gap.samples, -who);
    }
    std::sort(steps.begin(), steps.end());  // at one place ends come before beginnings
    silences_.clear();
    std::int64_t without = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        without += steps[i].second;
        if (without < receivers_ || i + 1 == steps.size()) continue;
        const auto [from, until] = std::pair{steps[i].first, steps[i + 1].first};
        if (from == until) continue;
        if (!silences_.empty() && silences_.back().second == from)
            silences_.back().second = until;
        else
            silences_.emplace_back(from, until);
    }
    // Nothing comes after the end, either.
    if (silences_.empty() || silences_.back().second != samples_) silences_.emplace_back(samples_, samples_);
    silences_.back().second = std::numeric_limits<std::int64_t>::max();
}

bool Record::silent(std::int64_t first, std::int64_t count) const {
    const auto silence = std::partition_point(silences_.begin(), silences_.end(),
                                              [&](const auto& range) { return range.second < first + count; });
    return silence != silences_.end() && silence->first <= first;
}

bool Record::grow() {
    const std::int64_t missing = missing_until(read_until_);
    if (!look_again()) return false;
    late_samples_ += missing - missing_until(read_until_);
    check_gaps(longest_gap_, true);
    find_silences();
    return true;
}

void Record::take_growth(const Record& from) {
    samples_ = from.samples_;
    complete_ = from.complete_;
    gaps_ = from.gaps_;
    notes_ = from.notes_;
}

std::int64_t Record::missing_until(std::int64_t sample) const {
    std::int64_t missing = 0;
    for (const Gap& gap : gaps_)
        missing += std::clamp<std::int64_t>(sample - gap.first, 0, gap.samples) * (gap.receiver < 0 ? receivers_ : 1);
    return missing;
}

void Record::check_gaps(double longest, bool growing) {
    longest_gap_ = longest;
    const auto too_long = [&](const Gap& gap) { return static_cast<double>(gap.samples) / rate_ > longest; };
    const auto before_data = [&](const Gap& gap) { return too_long(gap) && gap.first + gap.samples < samples_; };
    // The file after a gap has the clock that is probably wrong; at the record's end there is only the one before.
    auto gap = std::find_if(gaps_.begin(), gaps_.end(), before_data);
    if (gap == gaps_.end() && !growing) gap = std::find_if(gaps_.begin(), gaps_.end(), too_long);
    if (gap == gaps_.end()) return;
    const std::int64_t end = gap->first + gap->samples, receiver = std::max<std::int64_t>(gap->receiver, 0);
    const std::string file = end < samples_   ? file_of(receiver, end)
                             : gap->first > 0 ? file_of(receiver, gap->first - 1)
                                              : "the record";
    const std::string who = gap->receiver < 0 ? "" : fmt::format(" at receiver {}", gap->receiver);
    throw io::BadFile(file,
                      fmt::format("{} a gap of {} samples{}, {:.6g} hours, more than the {:.6g} hours of --max-gap; is "
                                  "a clock or a first sample damaged? Correct it, leave the file out, or raise "
                                  "--max-gap to have zeros for that long",
                                  end < samples_ ? "follows" : "is followed by", gap->samples, who,
                                  static_cast<double>(gap->samples) / rate_ / 3600, longest / 3600));
}

void Record::check_finite(std::int64_t first, std::int64_t count, const float* values, std::int64_t stride) const {
    for (std::int64_t r = 0; r < receivers_; ++r) {
        const float* trace = values + r * stride;
        // NaN and infinities have all bits of the exponent set. Whole numbers, because a loop over them vectorises.
        constexpr std::uint32_t kExponent = 0x7F800000;
        std::uint32_t found = 0;
        for (std::int64_t i = 0; i < count; ++i)
            found |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(trace[i]) & kExponent) == kExponent);
        if (found == 0) continue;
        const auto at = std::find_if_not(trace, trace + count, [](float x) { return std::isfinite(x); }) - trace;
        throw io::BadFile(
            file_of(r, first + at),
            fmt::format("sample {} of the record at receiver {} ({:.6f} s) is {}; no sum over it means anything: "
                        "replace it, by 0 if nothing better is known",
                        first + at, r, static_cast<double>(first + at) / rate_, static_cast<double>(trace[at])));
    }
}

std::string iso_time(std::int64_t nanoseconds) {
    using namespace std::chrono;
    const sys_time<microseconds> time(microseconds((nanoseconds + (nanoseconds < 0 ? -500 : 500)) / 1000));
    const auto whole = floor<seconds>(time);  // fmt 8 knows no parts of a second
    return fmt::format("{:%FT%T}.{:06}", whole, (time - whole).count());
}

std::unique_ptr<Record> open_record(const std::vector<std::string>& paths, const RecordOptions& options) {
    const std::string format = format_of(paths, options);
    if (options.growing && (format == "raw" || format == "segy"))
        throw io::BadFile(
            paths.front(),
            "holds one receiver after the other, so that nothing can be appended to it; follow miniSEED, or "
            "an index that lists raw files as they are complete");
    auto record = format == "index"  ? open_index(paths, options)
                  : format == "raw"  ? open_raw(paths, options)
                  : format == "segy" ? open_segy(paths, options)
                                     : open_miniseed(paths, options);
    record->check_gaps(options.longest_gap, options.growing);
    record->find_silences();
    return record;
}

bool needs_receiver_count(const std::vector<std::string>& paths, const RecordOptions& options) {
    return format_of(paths, options) == "raw";
}

}  // namespace espalier::bench::seismic
