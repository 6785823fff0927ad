// Raw single-precision files, and the index that says how they fit together.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/apps/seismic/formats.hpp"
#include "harness/base/text/counted.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"

namespace espalier::bench::seismic {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostSamples = std::int64_t{1} << 48;

/// Tells one content of a file from another.
struct FileVersion {
    ino_t node = 0;
    off_t bytes = -1;
    time_t seconds = 0;
    long nanoseconds = 0;

    bool operator==(const FileVersion&) const = default;
};

FileVersion version_of(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0)
        throw io::BadFile(path, std::string("cannot be read any more: ") + std::strerror(errno) + "; restore it");
    return {status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

/// What an index says.
struct Index {
    std::vector<Segment> segments;
    std::int64_t receivers = 0;
    double rate = 0;
    std::string positions;  ///< the file of the receivers' coordinates
};

Index read_index(const std::string& path, double expected_rate) {
    const fs::path folder = fs::path(path).parent_path();
    try {
        const JsonLimits limits;
        const nlohmann::json json = parse_checked(
            io::read_small(path, limits.bytes, "a record's index; cut the record into fewer files"), limits);
        Fields fields(json, "the index");
        if (const std::string schema = fields.text("schema"); schema != "espalier.record/1")
            fields.refuse("schema", "is '" + io::printable(schema) + "', and this program reads espalier.record/1");
        Index index;
        index.rate = fields.number("rate", 1e-6, 1e9);
        index.receivers = fields.whole("receivers", 1, 1 << 24);
        index.positions = (folder / fields.text("receivers_file")).string();
        for (const nlohmann::json& entry : fields.array("files", std::size_t{1} << 20)) {
            Fields file(entry, "a file of the index");
            Segment segment;
            const std::string name = file.text("name");
            if (name.find('\0') != std::string::npos) file.refuse("name", "holds a NUL, which no file's name does");
            segment.path = (folder / name).string();
            segment.first = file.whole("first_sample", 0, kMostSamples);
            segment.samples = file.whole("samples", 1, kMostSamples);
            file.done();
            index.segments.push_back(std::move(segment));
        }
        fields.done();
        if (index.segments.empty()) throw io::BadFile(path, "lists no files");
        check_rate(path, index.rate, expected_rate);
        return index;
    } catch (const BadData& error) {
        throw io::BadFile(path, error.what());
    }
}

class RawRecord final : public Record {
public:
    RawRecord(std::vector<Segment> segments, std::int64_t receivers, double rate, std::string receivers_path)
        : segments_(std::move(segments)) {
        receivers_ = receivers;
        rate_ = rate;
        format_ = "raw";
        receivers_path_ = std::move(receivers_path);
        for (const Segment& segment : segments_) listed_files_.push_back(segment.path);
    }

    /// Checks every file's size; with `fill` those that are missing or short are left out.
    void check_files(bool fill) {
        for (const Segment& segment : segments_) samples_ = segment.first + segment.samples;
        gaps_between(segments_);
        std::erase_if(segments_, [&](const Segment& segment) { return !is_whole(segment, fill); });
        // What was left out is a gap like those between files, at either end too.
        std::vector<Segment> bounded = segments_;
        bounded.insert(bounded.begin(), {"", 0, 0});
        bounded.push_back({"", samples_, 0});
        gaps_ = gaps_between(bounded);
        complete_ = samples_;
    }

    /// Has `grow` look for more files in the index, which listed these.
    void follow(std::string path, std::vector<Segment> listed, bool fill) {
        index_ = std::move(path);
        listed_ = std::move(listed);
        fill_ = fill;
    }

protected:
    bool look_again() override {
        const FileVersion version = version_of(index_);
        if (version == read_version_) return false;
        Index index;
        try {
            index = read_index(index_, rate_);
        } catch (const io::BadFile&) {
            // It may be half written: not if it is the same at the next look.
            if (version == bad_version_) throw;
            bad_version_ = version;
            return false;
        }
        const auto& now = index.segments;
        const bool longer = now.size() >= listed_.size() && index.receivers == receivers_ &&
                            std::equal(listed_.begin(), listed_.end(), now.begin());
        if (!longer)
            throw io::BadFile(index_,
                              "says something else of files that it listed before; an index that is followed only "
                              "gains files at its end. Start again with the one that is right");
        read_version_ = version;
        if (now.size() == listed_.size()) return false;
        listed_ = now;
        listed_files_.clear();
        for (const Segment& segment : now) listed_files_.push_back(segment.path);
        file_.reset();
        segments_ = std::move(index.segments);
        check_files(fill_);
        return true;
    }

    void read_within(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) override {
        const auto [begin, end] = segments_of(segments_, first, count);
        for (std::size_t s = begin; s < end; ++s) {
            const Segment& segment = segments_[s];
            const std::int64_t from = std::max(first, segment.first),
                               until = std::min(first + count, segment.first + segment.samples);
            open(s);
            for (std::int64_t r = 0; r < receivers_; ++r)
                read_piece(segment, (r * segment.samples + from - segment.first) * kSampleBytes,
                           (until - from) * kSampleBytes, reinterpret_cast<char*>(to + r * stride + (from - first)));
        }
    }

    std::string file_of(std::int64_t, std::int64_t sample) const override {
        return segments_[segments_of(segments_, sample, 1).first].path;
    }

private:
    static constexpr std::int64_t kSampleBytes = sizeof(float);

    bool is_whole(const Segment& segment, bool fill) const {
        struct stat status {};
        if (stat(segment.path.c_str(), &status) != 0) {
            if (fill && errno == ENOENT) return false;
            throw io::BadFile(
                segment.path,
                errno == ENOENT ? "no such file, but the record's index lists it; restore it, or have its time filled "
                                  "with zeros by --fill-missing"
                                : std::string("cannot be read: ") + std::strerror(errno));
        }
        check_is_file(segment.path);
        const std::int64_t row = receivers_ * kSampleBytes, most = std::numeric_limits<std::int64_t>::max() / row;
        const std::int64_t wanted = std::min(segment.samples, most) * row;
        if (status.st_size == wanted) return true;
        if (fill && status.st_size < wanted) return false;
        throw io::BadFile(segment.path,
                          fmt::format("has {}, but {} of {} take {}; restore it{}", counted(status.st_size, "byte"),
                                      counted(segment.samples, "sample"), counted(receivers_, "receiver"), wanted,
                                      status.st_size < wanted ? ", or have its time filled with zeros by --fill-missing"
                                                              : ", or correct the index"));
    }

    void open(std::size_t segment) {
        if (opened_ == segment && file_) return;
        file_ = io::open_for_reading(segments_[segment].path);
        opened_ = segment;
    }

    void read_piece(const Segment& segment, std::int64_t offset, std::int64_t bytes, char* to) {
        while (bytes > 0) {
            const ssize_t got = pread(fileno(file_.get()), to, static_cast<std::size_t>(bytes), offset);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw io::BadFile(segment.path, std::string("cannot be read: ") + std::strerror(errno));
            if (got == 0)
                throw io::BadFile(segment.path, "became shorter while it was read; start again when it is complete");
            to += got;
            offset += got;
            bytes -= got;
        }
    }

    std::vector<Segment> segments_;
    std::size_t opened_ = 0;
    io::File file_;
    std::string index_;            ///< of a record that grows
    std::vector<Segment> listed_;  ///< by it so far
    bool fill_ = false;
    FileVersion read_version_, bad_version_;
};

/// `text` split before the digits at the end of a file's name: "day-007.f32" -> {"day-", 7}; -1 without digits.
std::pair<std::string, std::int64_t> numbered(const std::string& path) {
    const std::string stem = fs::path(path).stem().string();
    const auto digits = stem.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
    if (digits == stem.size() || stem.size() - digits > 15) return {stem, -1};
    return {stem.substr(0, digits), std::stoll(stem.substr(digits))};
}

/// Files that are numbered in even steps: a larger step is a file that was forgotten. Longer numbers are dates.
void check_numbers(const std::vector<std::string>& paths) {
    std::int64_t step = 0;
    for (std::size_t i = 1; i < paths.size(); ++i) {
        const auto [name, number] = numbered(paths[i]);
        const auto [before_name, before] = numbered(paths[i - 1]);
        if (name != before_name || number < 0 || before < 0 || std::max(number, before) > 99999) return;
        if (i == 1) step = number - before;
        if (number - before != step)
            throw io::BadFile(paths[i], "does not follow " + fs::path(paths[i - 1]).filename().string() +
                                            " in steps of " + std::to_string(step) +
                                            ": a file of the sequence is missing, or they are out of " +
                                            "order; restore it, or describe the record and its gap in an index");
    }
}

}  // namespace

std::unique_ptr<Record> open_raw(const std::vector<std::string>& paths, const RecordOptions& options) {
    if (options.rate <= 0) throw io::BadFile(paths.front(), "a raw file does not say its sampling rate; give --rate");
    check_numbers(paths);
    const std::int64_t row = options.receivers * static_cast<std::int64_t>(sizeof(float));
    std::vector<Segment> segments;
    std::int64_t first = 0;
    for (const std::string& path : paths) {
        check_is_file(path);
        io::open_for_reading(path);  // for its messages
        const auto bytes = static_cast<std::int64_t>(fs::file_size(path));
        if (bytes == 0 || bytes % row != 0)
            throw io::BadFile(path, fmt::format("its {} bytes are not a whole number of samples of {} receivers ({} "
                                                "bytes each): either the file is short, or the coordinates are those "
                                                "of other receivers",
                                                bytes, options.receivers, row));
        segments.push_back({path, first, bytes / row});
        first += bytes / row;
    }
    auto record = std::make_unique<RawRecord>(std::move(segments), options.receivers, options.rate, "");
    record->check_files(false);
    return record;
}

std::unique_ptr<Record> open_index(const std::vector<std::string>& paths, const RecordOptions& options) {
    if (paths.size() > 1) throw io::BadFile(paths[1], "an index stands for the whole record; give no other file");
    Index index = read_index(paths.front(), options.rate);
    std::vector<Segment> listed = index.segments;
    auto record = std::make_unique<RawRecord>(std::move(index.segments), index.receivers, index.rate, index.positions);
    record->check_files(options.fill_missing);
    if (options.growing) record->follow(paths.front(), std::move(listed), options.fill_missing);
    return record;
}

}  // namespace espalier::bench::seismic
