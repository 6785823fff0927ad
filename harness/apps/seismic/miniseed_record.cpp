// miniSEED 2 and 3. The headers of all records are read once, at the start; after that each window decodes the records
// that overlap it, so that memory does not grow with the files' samples.

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/apps/seismic/channel_match.hpp"
#include "harness/apps/seismic/formats.hpp"
#include "harness/apps/seismic/miniseed_blocks.hpp"
#include "harness/base/text/counted.hpp"

namespace espalier::bench::seismic {
namespace {

constexpr double kLatestSample = 0x1p48;
constexpr double kMostDrift = 0.5;       // samples, over the whole record
constexpr double kMostRateError = 1e-2;  // of a rate, however short the record is
constexpr std::size_t kMostChannels = std::size_t{1} << 20;

/// One of a channel's records.
struct Piece {
    std::size_t file;
    MiniSeedBlock block;
    std::int64_t first = 0;
    bool compared = false;  ///< with what it overlaps

    [[nodiscard]] std::int64_t end() const { return first + block.samples; }
};

struct Channel {
    ChannelName name;
    bool text = false;
    std::vector<Piece> pieces;
    std::int64_t longest = 0;  ///< samples of any of them
    std::int64_t end = 0;      ///< of the last of them
    bool grown = true;         ///< since its pieces were placed
    std::int64_t overlaps = 0, overlapping_samples = 0;
    bool overlaps_differ = false;

    [[nodiscard]] bool is_series() const { return !text && name.rate > 0; }
};

/// One of the record's files, as far as it was read.
struct ScannedFile {
    std::string path;
    MiniSeedScan scan = {};
    std::int64_t bytes = 0, left_bytes = 0;  ///< how long it was, and how much of that is no whole record yet
    dev_t device = 0;
    ino_t node = 0;
    bool seen = false;
};

class MiniSeedRecord final : public Record {
public:
    MiniSeedRecord(const std::vector<std::string>& paths, const RecordOptions& options)
        : overlap_(options.overlap), growing_(options.growing) {
        format_ = "miniseed";
        for (const std::string& path : paths) files_.push_back({.path = path});
        for (std::size_t file = 0; file < files_.size(); ++file)
            if (!growing_ || has_grown(files_[file])) scan(file);
        take_series();
        if (!options.names.empty()) order_as(options.names, options.fill_missing);
        receivers_ = static_cast<std::int64_t>(used_.size());
        rate_ = std::find_if(used_.begin(), used_.end(), [](const Channel& c) { return !c.pieces.empty(); })->name.rate;
        check_rate(paths.front(), rate_, options.rate);
        settle();
        start_ = iso_time(*start_time_) + "Z";
        for (const Channel& channel : used_) channels_.push_back(channel.name.name);
        for (std::size_t c = 0; c < used_.size(); ++c) numbers_.emplace(used_[c].name.name, c);
    }

protected:
    bool look_again() override {
        bool longer = false, grown = false;
        for (std::size_t file = 0; file < files_.size(); ++file) {
            if (!has_grown(files_[file])) continue;
            longer = true;
            grown = scan(file) || grown;
        }
        if (grown)
            settle();
        else if (longer)
            write_notes();  // of what is no whole record yet
        return grown;
    }

    void read_within(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) override {
        for (std::size_t c = 0; c < used_.size(); ++c) {
            const Channel& channel = used_[c];
            float* const row = to + static_cast<std::int64_t>(c) * stride;
            const auto begin = std::partition_point(channel.pieces.begin(), channel.pieces.end(), [&](const Piece& p) {
                return p.first + channel.longest <= first;  // pieces may overlap, so that ends are in no order
            });
            const auto end = std::partition_point(begin, channel.pieces.end(),
                                                  [&](const Piece& p) { return p.first < first + count; });
            // Where pieces overlap the one that is written last counts.
            if (overlap_ == Overlap::first)
                for (auto piece = end; piece != begin; --piece) write_piece(channel, *(piece - 1), first, count, row);
            else
                for (auto piece = begin; piece != end; ++piece) write_piece(channel, *piece, first, count, row);
        }
    }

    std::string file_of(std::int64_t receiver, std::int64_t sample) const override {
        for (const Piece& piece : used_[static_cast<std::size_t>(receiver)].pieces)
            if (piece.first <= sample && sample < piece.end()) return path_of(piece);
        return files_.front().path;
    }

private:
    [[nodiscard]] const std::string& path_of(const Piece& piece) const { return files_[piece.file].path; }

    /// Whether a file of a record that grows has more bytes than were looked at. One that is not there yet may come.
    static bool has_grown(ScannedFile& file) {
        struct stat status {};
        if (stat(file.path.c_str(), &status) != 0) {
            if (errno == ENOENT && !file.seen) return false;
            throw io::BadFile(file.path, std::string("cannot be read any more: ") + std::strerror(errno) +
                                             "; restore it and start again, with all files of the record");
        }
        const bool same = status.st_dev == file.device && status.st_ino == file.node;
        if (file.seen && (!same || status.st_size < file.bytes))
            throw io::BadFile(file.path,
                              fmt::format("{} after {} of it were read, but a file that is followed may only be "
                                          "appended to; start again, with all files of the record in order of time",
                                          same ? fmt::format("became shorter, {},", counted(status.st_size, "byte"))
                                               : "was replaced by another file",
                                          counted(file.bytes, "byte")));
        const bool grown = status.st_size > file.bytes;
        file.device = status.st_dev;
        file.node = status.st_ino;
        file.bytes = status.st_size;
        file.seen = true;
        return grown;
    }

    /// Finds a file's records, from where it was scanned before. Returns whether there is one of a receiver.
    bool scan(std::size_t file) {
        ScannedFile& scanned = files_[file];
        MiniSeedScanner scanner(scanned.path, scanned.scan, growing_);
        bool grown = false;
        while (const auto header = scanner.next()) {
            Channel* const channel = header->block.samples > 0 ? channel_of(*header, scanned.path) : nullptr;
            if (channel == nullptr) continue;
            channel->longest = std::max(channel->longest, header->block.samples);
            channel->pieces.push_back({.file = file, .block = header->block});
            channel->grown = grown = true;
        }
        scanned.scan = scanner.scan();
        scanned.left_bytes = scanner.left_bytes();
        return grown;
    }

    /// The channel of a record; once receivers have theirs, null for one that is none of these.
    Channel* channel_of(const MiniSeedHeader& header, const std::string& path) {
        const auto known = numbers_.find(header.name);
        if (known != numbers_.end()) return &(used_.empty() ? found_ : used_)[known->second];
        if (!used_.empty()) {
            if (!left_out_.contains(header.name)) leave_out(header.name, "it began after the others were followed");
            return nullptr;
        }
        if (found_.size() == kMostChannels)
            throw io::BadFile(path, fmt::format("names more than {} channels; is it damaged?", kMostChannels));
        numbers_.emplace(header.name, found_.size());
        found_.push_back({.name = {header.name, header.source, header.block.rate}, .text = header.text, .pieces = {}});
        return &found_.back();
    }

    /// Everything that follows from the channels' pieces.
    void settle() {
        place_channels();
        check_drift();
        gaps_.clear();
        for (std::size_t c = 0; c < used_.size(); ++c) find_gaps(c);
        for (Channel& channel : used_) {
            if (channel.grown) check_overlaps(channel);
            channel.grown = false;
        }
        write_notes();
    }

    void write_notes() {
        notes_.clear();
        for (const ScannedFile& file : files_) {
            const MiniSeedScan& scan = file.scan;
            if (scan.skipped_blocks > 0)
                notes_.push_back(fmt::format("{}: skipped {} ({}) between records, not miniSEED, the first at byte {}",
                                             file.path, counted(scan.skipped_blocks, "block"),
                                             counted(scan.skipped_bytes, "byte"), scan.first_skipped));
            if (file.left_bytes > 0)
                notes_.push_back(
                    fmt::format("{}: the last {} are no whole record", file.path, counted(file.left_bytes, "byte")));
        }
        notes_.insert(notes_.end(), match_notes_.begin(), match_notes_.end());
        for (const Channel& channel : used_)
            if (channel.overlaps > 0)
                notes_.push_back(fmt::format("{}: {} of {}, {}", io::printable(channel.name.name),
                                             counted(channel.overlaps, "overlap"),
                                             counted(channel.overlapping_samples, "sample"),
                                             !channel.overlaps_differ     ? "which agree"
                                             : overlap_ == Overlap::first ? "which differ: what begins first counts"
                                                                          : "which differ: what begins last counts"));
    }

    /// Channels of logs and states have no series in time: no receiver can stand for them.
    void take_series() {
        for (Channel& channel : found_)
            if (channel.is_series())
                used_.push_back(std::move(channel));
            else
                leave_out(channel.name.name, channel.text ? "a log" : "no sampling rate");
        if (used_.empty()) throw io::BadFile(files_.front().path, "holds no samples of any channel");
        found_.clear();
        numbers_.clear();
    }

    void leave_out(const std::string& channel, const std::string& why) {
        left_out_.insert(channel);
        match_notes_.push_back(fmt::format("left out the channel {} ({})", io::printable(channel), why));
    }

    /// Channels in the order of the receivers, who are named after them or after their stations.
    void order_as(const std::vector<std::string>& names, bool fill_missing) {
        std::vector<ChannelName> known;
        for (const Channel& channel : used_) known.push_back(channel.name);
        const auto matches = match_channels(files_.front().path, known, names, fill_missing);
        std::vector<Channel> ordered;
        std::vector<bool> taken(used_.size());
        for (std::size_t r = 0; r < names.size(); ++r) {
            if (!matches[r])
                match_notes_.push_back(fmt::format("no channel for the receiver {}: zeros", io::printable(names[r])));
            ordered.push_back(matches[r] ? std::move(used_[*matches[r]]) : Channel{});
            if (matches[r]) taken[*matches[r]] = true;
        }
        for (std::size_t c = 0; c < used_.size(); ++c)
            if (!taken[c])
                leave_out(used_[c].name.name, fmt::format("{} Hz, no receiver names it", used_[c].name.rate));
        used_ = std::move(ordered);
    }

    /// From times to samples, counted from the earliest of all channels.
    void place_channels() {
        const bool first_time = !start_time_;
        for (Channel& channel : used_) {
            if (!channel.grown) continue;
            std::stable_sort(channel.pieces.begin(), channel.pieces.end(),
                             [](const Piece& a, const Piece& b) { return a.block.start < b.block.start; });
            if (channel.pieces.empty()) continue;
            const std::int64_t start = channel.pieces.front().block.start;
            if (first_time && (!start_time_ || start < *start_time_)) start_time_ = start;
        }
        complete_ = std::numeric_limits<std::int64_t>::max();
        for (Channel& channel : used_) {
            if (channel.grown) place_pieces(channel);
            if (!channel.pieces.empty()) complete_ = std::min(complete_, channel.end);
        }
    }

    /// A time between two samples goes to the nearer, unless it is within half a sample of the time at which the piece
    /// before it ends: such jitter of a clock is no gap.
    void place_pieces(Channel& channel) {
        const Piece* before = nullptr;  // the one that ends last
        std::int64_t latest = 0;        // of the places so far
        for (Piece& piece : channel.pieces) {
            const double place = static_cast<double>(piece.block.start - *start_time_) * 1e-9 * rate_;
            if (place < -0.5)
                throw io::BadFile(path_of(piece),
                                  fmt::format("the record at byte {} begins {:.6g} s before all that were there when "
                                              "following began; start again, to have it counted",
                                              piece.block.offset, -place / rate_));
            if (!(place < kLatestSample))
                throw io::BadFile(path_of(piece),
                                  fmt::format("the record at byte {} begins {:.6g} s after the first one; is its clock "
                                              "damaged? Correct it or leave the file out",
                                              piece.block.offset, place / rate_));
            piece.first = std::llround(place);
            if (before != nullptr) {
                const double between = static_cast<double>(piece.block.start - before->block.start) * 1e-9 * rate_ -
                                       static_cast<double>(before->block.samples);
                if (std::abs(between) <= 0.5 && std::abs(place - static_cast<double>(before->end())) <= 1)
                    piece.first = before->end();
                piece.first = std::max(piece.first, latest);  // two within one sample stay in order
            }
            latest = piece.first;
            if (before == nullptr || piece.end() > before->end()) before = &piece;
            channel.end = std::max(channel.end, piece.end());
        }
        samples_ = std::max(samples_, channel.end);
    }

    /// Samples are counted at one rate for all; a record's own may differ by what does not show.
    void check_drift() const {
        for (const Channel& channel : used_)
            for (const Piece& piece : channel.pieces) {
                const double error = std::abs(piece.block.rate / rate_ - 1);
                const double drift = error * static_cast<double>(samples_);
                if (error <= kMostRateError && drift <= kMostDrift) continue;
                throw io::BadFile(
                    path_of(piece),
                    fmt::format(
                        "{} has {} samples per second (the record at byte {}), other channels have {}: over this "
                        "record's {} that is {:.6g} samples, and at most {} are read as one rate; resample it, "
                        "or name the receivers so that none stands for it",
                        io::printable(channel.name.name), piece.block.rate, piece.block.offset, rate_,
                        counted(samples_, "sample"), drift, kMostDrift));
            }
    }

    void find_gaps(std::size_t channel) {
        const auto note = [&](std::int64_t from, std::int64_t until) {
            if (until > from) gaps_.push_back({from, until - from, static_cast<std::int64_t>(channel)});
        };
        std::int64_t end = 0;
        for (const Piece& piece : used_[channel].pieces) {
            note(end, piece.first);
            end = std::max(end, piece.end());
        }
        note(end, samples_);
    }

    /// Compares what two records say of the same time, where one of them is new.
    void check_overlaps(Channel& channel) {
        const Piece* before = nullptr;  // the one that ends last
        std::vector<float> said;        // by it; empty: not decoded yet
        for (Piece& piece : channel.pieces) {
            const bool is_new = !piece.compared || (before != nullptr && !before->compared);
            if (before != nullptr && is_new && piece.first < before->end()) {
                if (said.empty()) said = decoded(channel, *before);
                channel.overlaps_differ |= !agree(channel, *before, said, piece);
                channel.overlapping_samples += std::min(piece.end(), before->end()) - piece.first;
                ++channel.overlaps;
            }
            if (before != nullptr && piece.end() <= before->end()) continue;
            before = &piece;
            said.clear();
        }
        for (Piece& piece : channel.pieces) piece.compared = true;
    }

    /// Whether `piece` says what `before` says, where both do. Throws if not, and nothing says which counts.
    bool agree(const Channel& channel, const Piece& before, const std::vector<float>& said, const Piece& piece) {
        const std::vector<float> says = decoded(channel, piece);
        const std::int64_t count = std::min(piece.end(), before.end()) - piece.first;
        const auto there = said.begin() + (piece.first - before.first);
        const auto [one, other] = std::mismatch(there, there + count, says.begin());
        if (one == there + count) return true;
        if (overlap_ != Overlap::refuse) return false;
        throw io::BadFile(
            path_of(piece),
            fmt::format(
                "the records of {} at byte {} and at byte {} of {} overlap by {} from {}Z on and contradict each "
                "other: {} and {} at sample {} of the record; remove one, or say which counts by --overlap first "
                "or last",
                io::printable(channel.name.name), piece.block.offset, before.block.offset, path_of(before),
                counted(count, "sample"), iso_time(piece.block.start), *other, *one, piece.first + (one - there)));
    }

    std::vector<float> decoded(const Channel& channel, const Piece& piece) {
        decode(channel, piece);
        return values_;
    }

    void write_piece(const Channel& channel, const Piece& piece, std::int64_t first, std::int64_t count, float* row) {
        const std::int64_t from = std::max(first, piece.first), until = std::min(first + count, piece.end());
        if (from >= until) return;
        decode(channel, piece);
        std::copy_n(values_.begin() + (from - piece.first), until - from, row + (from - first));
    }

    void decode(const Channel& channel, const Piece& piece) {
        const std::string& path = path_of(piece);
        if (!file_ || opened_ != piece.file) {
            file_ = io::open_for_reading(path);
            opened_ = piece.file;
        }
        bytes_.resize(static_cast<std::size_t>(piece.block.bytes));
        std::optional<std::string> wrong = "cannot be read";
        if (fseeko(file_.get(), piece.block.offset, SEEK_SET) == 0 &&
            std::fread(bytes_.data(), 1, bytes_.size(), file_.get()) == bytes_.size())
            wrong = decode_miniseed(bytes_, piece.block, values_);
        if (wrong)
            throw io::BadFile(path, fmt::format("the record of {} at byte {} ({}Z, {} samples from sample {} on) {}; "
                                                "restore it, or cut it out, which leaves a gap",
                                                io::printable(channel.name.name), piece.block.offset,
                                                iso_time(piece.block.start), piece.block.samples, piece.first, *wrong));
    }

    std::vector<ScannedFile> files_;
    Overlap overlap_;
    bool growing_;
    std::vector<Channel> found_;  ///< while files are scanned for the first time
    std::map<std::string, std::size_t> numbers_;
    std::set<std::string> left_out_;
    std::vector<std::string> match_notes_;
    std::vector<Channel> used_;  ///< one per receiver; without pieces if no file has a channel for it
    io::File file_;
    std::size_t opened_ = 0;
    std::vector<char> bytes_;
    std::vector<float> values_;
};

}  // namespace

std::unique_ptr<Record> open_miniseed(const std::vector<std::string>& paths, const RecordOptions& options) {
    silence_libmseed();
    return std::make_unique<MiniSeedRecord>(paths, options);
}

}  // namespace espalier::bench::seismic
