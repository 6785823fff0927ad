// miniSEED 2 and 3. The headers of all records are read once, at the start; after that each window decodes the records
// that overlap it, so that memory does not grow with the files' samples.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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

    [[nodiscard]] std::int64_t end() const { return first + block.samples; }
};

struct Channel {
    ChannelName name;
    bool text = false;
    std::vector<Piece> pieces;
    std::int64_t longest = 0;  ///< samples of any of them

    [[nodiscard]] bool is_series() const { return !text && name.rate > 0; }
};

class MiniSeedRecord final : public Record {
public:
    MiniSeedRecord(const std::vector<std::string>& paths, const RecordOptions& options)
        : paths_(paths), overlap_(options.overlap) {
        format_ = "miniseed";
        for (std::size_t file = 0; file < paths_.size(); ++file) scan(file);
        take_series();
        if (!options.names.empty()) order_as(options.names, options.fill_missing);
        receivers_ = static_cast<std::int64_t>(used_.size());
        rate_ = std::find_if(used_.begin(), used_.end(), [](const Channel& c) { return !c.pieces.empty(); })->name.rate;
        check_rate(paths_.front(), rate_, options.rate);
        place_channels();
        check_drift();
        for (std::size_t c = 0; c < used_.size(); ++c) find_gaps(c);
        for (const Channel& channel : used_) check_overlaps(channel);
        start_ = iso_time(*start_time_) + "Z";
        for (const Channel& channel : used_) channels_.push_back(channel.name.name);
    }

protected:
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
            if (piece.first <= sample && sample < piece.end()) return paths_[piece.file];
        return paths_.front();
    }

private:
    void scan(std::size_t file) {
        MiniSeedScanner scanner(paths_[file]);
        while (const auto header = scanner.next()) {
            if (header->block.samples <= 0) continue;
            const auto [known, is_new] = numbers_.try_emplace(header->name, found_.size());
            if (is_new) {
                if (found_.size() == kMostChannels)
                    throw io::BadFile(paths_[file],
                                      fmt::format("names more than {} channels; is it damaged?", kMostChannels));
                found_.push_back(
                    {.name = {header->name, header->source, header->block.rate}, .text = header->text, .pieces = {}});
            }
            Channel& channel = found_[known->second];
            channel.longest = std::max(channel.longest, header->block.samples);
            channel.pieces.push_back({file, header->block});
        }
        if (scanner.skipped_blocks() > 0)
            notes_.push_back(fmt::format("{}: skipped {} ({}) between records, not miniSEED, the first at byte {}",
                                         paths_[file], counted(scanner.skipped_blocks(), "block"),
                                         counted(scanner.skipped_bytes(), "byte"), scanner.first_skipped()));
    }

    /// Channels of logs and states have no series in time: no receiver can stand for them.
    void take_series() {
        for (Channel& channel : found_)
            if (channel.is_series())
                used_.push_back(std::move(channel));
            else
                note_left_out(channel, channel.text ? "a log" : "no sampling rate");
        if (used_.empty()) throw io::BadFile(paths_.front(), "holds no samples of any channel");
        found_.clear();
        numbers_.clear();
    }

    void note_left_out(const Channel& channel, const std::string& why) {
        notes_.push_back(fmt::format("left out the channel {} ({})", io::printable(channel.name.name), why));
    }

    /// Channels in the order of the receivers, who are named after them or after their stations.
    void order_as(const std::vector<std::string>& names, bool fill_missing) {
        std::vector<ChannelName> known;
        for (const Channel& channel : used_) known.push_back(channel.name);
        const auto matches = match_channels(paths_.front(), known, names, fill_missing);
        std::vector<Channel> ordered;
        std::vector<bool> taken(used_.size());
        for (std::size_t r = 0; r < names.size(); ++r) {
            if (!matches[r])
                notes_.push_back(fmt::format("no channel for the receiver {}: zeros", io::printable(names[r])));
            ordered.push_back(matches[r] ? std::move(used_[*matches[r]]) : Channel{});
            if (matches[r]) taken[*matches[r]] = true;
        }
        for (std::size_t c = 0; c < used_.size(); ++c)
            if (!taken[c]) note_left_out(used_[c], fmt::format("{} Hz, no receiver names it", used_[c].name.rate));
        used_ = std::move(ordered);
    }

    /// From times to samples, counted from the earliest of all channels.
    void place_channels() {
        for (Channel& channel : used_) {
            std::stable_sort(channel.pieces.begin(), channel.pieces.end(),
                             [](const Piece& a, const Piece& b) { return a.block.start < b.block.start; });
            if (channel.pieces.empty()) continue;
            const std::int64_t start = channel.pieces.front().block.start;
            if (!start_time_ || start < *start_time_) start_time_ = start;
        }
        for (Channel& channel : used_) place_pieces(channel.pieces);
    }

    /// A time between two samples goes to the nearer, unless it is within half a sample of the time at which the piece
    /// before it ends: such jitter of a clock is no gap.
    void place_pieces(std::vector<Piece>& pieces) {
        const Piece* before = nullptr;  // the one that ends last
        std::int64_t latest = 0;        // of the places so far
        for (Piece& piece : pieces) {
            const double place = static_cast<double>(piece.block.start - *start_time_) * 1e-9 * rate_;
            if (!(place < kLatestSample))
                throw io::BadFile(paths_[piece.file],
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
            samples_ = std::max(samples_, piece.end());
        }
    }

    /// Samples are counted at one rate for all; a record's own may differ by what does not show.
    void check_drift() const {
        for (const Channel& channel : used_)
            for (const Piece& piece : channel.pieces) {
                const double error = std::abs(piece.block.rate / rate_ - 1);
                const double drift = error * static_cast<double>(samples_);
                if (error <= kMostRateError && drift <= kMostDrift) continue;
                throw io::BadFile(
                    paths_[piece.file],
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

    /// Compares what two records say of the same time.
    void check_overlaps(const Channel& channel) {
        std::int64_t overlaps = 0, samples = 0;
        bool differ = false;
        const Piece* before = nullptr;  // the one that ends last
        std::vector<float> said;        // by it; empty: not decoded yet
        for (const Piece& piece : channel.pieces) {
            if (before != nullptr && piece.first < before->end()) {
                if (said.empty()) said = decoded(channel, *before);
                differ = !agree(channel, *before, said, piece) || differ;
                samples += std::min(piece.end(), before->end()) - piece.first;
                ++overlaps;
            }
            if (before != nullptr && piece.end() <= before->end()) continue;
            before = &piece;
            said.clear();
        }
        if (overlaps == 0) return;
        notes_.push_back(fmt::format("{}: {} of {}, {}", io::printable(channel.name.name), counted(overlaps, "overlap"),
                                     counted(samples, "sample"),
                                     !differ                      ? "which agree"
                                     : overlap_ == Overlap::first ? "which differ: what begins first counts"
                                                                  : "which differ: what begins last counts"));
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
            paths_[piece.file],
            fmt::format(
                "the records of {} at byte {} and at byte {} of {} overlap by {} from {}Z on and contradict each "
                "other: {} and {} at sample {} of the record; remove one, or say which counts by --overlap first "
                "or last",
                io::printable(channel.name.name), piece.block.offset, before.block.offset, paths_[before.file],
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
        const std::string& path = paths_[piece.file];
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

    std::vector<std::string> paths_;
    Overlap overlap_;
    std::vector<Channel> found_;  ///< while files are scanned
    std::map<std::string, std::size_t> numbers_;
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
