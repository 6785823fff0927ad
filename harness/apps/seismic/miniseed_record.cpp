// miniSEED 2 through EarthScope's libmseed. The headers of all records are read once, at the start; after that
// each window decodes the records that overlap it, so that memory does not grow with the files.

#include <fmt/format.h>
#include <libmseed.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/apps/seismic/formats.hpp"

namespace espalier::bench::seismic {
namespace {

constexpr double kLatestSample = 0x1p48;

/// One of a channel's records.
struct Piece {
    std::size_t file;
    std::int64_t offset, first, samples;
    int bytes;
};

struct Channel {
    std::string name;  ///< network.station.location.channel
    std::vector<Piece> pieces;
    std::int64_t longest = 0;  ///< samples of any of them
};

struct FreeMsr {
    void operator()(MSRecord* record) const { msr_free(&record); }
};

/// The headers of a file's records, one after the other.
struct FileScan {
    MSFileParam* state = nullptr;
    MSRecord* record = nullptr;

    FileScan() = default;
    ~FileScan() { ms_readmsr_r(&state, &record, nullptr, 0, nullptr, nullptr, 0, 0, 0); }  // which frees both
    FileScan(const FileScan&) = delete;
    FileScan& operator=(const FileScan&) = delete;

    int next(const std::string& path, off_t& offset) {
        return ms_readmsr_r(&state, &record, path.c_str(), 0, &offset, nullptr, 0, 0, 0);
    }
};

void say_nothing(char*) {}

class MiniSeedRecord final : public Record {
public:
    MiniSeedRecord(const std::vector<std::string>& paths, const std::vector<std::string>& names) : paths_(paths) {
        format_ = "miniseed";
        ms_loginit(say_nothing, nullptr, say_nothing, nullptr);  // what is wrong is said by the exceptions
        for (std::size_t file = 0; file < paths_.size(); ++file) scan(file);
        if (channels_.empty()) throw io::BadFile(paths_.front(), "holds no samples of any channel");
        if (!names.empty()) order_as(names);
        receivers_ = static_cast<std::int64_t>(channels_.size());
        place_pieces();
        char text[64] = {};
        ms_hptime2isotimestr(start_time_, text, 1);
        start_ = std::string(text) + "Z";
    }

protected:
    void read_within(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) override {
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            const Channel& channel = channels_[c];
            float* const row = to + static_cast<std::int64_t>(c) * stride;
            auto piece = std::partition_point(channel.pieces.begin(), channel.pieces.end(), [&](const Piece& p) {
                return p.first + channel.longest <= first;  // pieces may overlap, so that ends are in no order
            });
            for (; piece != channel.pieces.end() && piece->first < first + count; ++piece)
                if (piece->first + piece->samples > first) decode(*piece, first, count, row);
        }
    }

    std::string file_of(std::int64_t receiver, std::int64_t sample) const override {
        for (const Piece& piece : channels_[static_cast<std::size_t>(receiver)].pieces)
            if (piece.first <= sample && sample < piece.first + piece.samples) return paths_[piece.file];
        return paths_.front();
    }

private:
    void scan(std::size_t file) {
        const std::string& path = paths_[file];
        io::open_for_reading(path);  // for its messages
        FileScan scan;
        off_t offset = 0;
        off_t end = 0;  // of the last whole record: libmseed passes over a part of one at the end of a file
        int status = 0;
        while ((status = scan.next(path, offset)) == MS_NOERROR) {
            if (scan.record->samplecnt > 0) add(file, offset, *scan.record);
            end = offset + scan.record->reclen;
        }
        if (status != MS_ENDOFFILE || end != static_cast<off_t>(std::filesystem::file_size(path)))
            throw io::BadFile(
                path, fmt::format("is not whole miniSEED from byte {} on; restore it", static_cast<std::int64_t>(end)));
    }

    void add(std::size_t file, off_t offset, const MSRecord& record) {
        const double rate = record.samprate;
        if (rate_ == 0) rate_ = rate;
        if (!(rate > 0) || std::abs(rate - rate_) > 1e-6 * rate_)
            throw io::BadFile(paths_[file], fmt::format("has {} samples per second, other channels have {}; give "
                                                        "channels of one rate",
                                                        rate, rate_));
        const std::string name =
            fmt::format("{}.{}.{}.{}", record.network, record.station, record.location, record.channel);
        const auto [known, is_new] = numbers_.try_emplace(name, channels_.size());
        if (is_new) channels_.push_back({name, {}, 0});
        Channel& channel = channels_[known->second];
        if (starts_.empty() || record.starttime < start_time_) start_time_ = record.starttime;
        starts_.push_back({known->second, channel.pieces.size(), record.starttime});
        channel.pieces.push_back({file, offset, 0, record.samplecnt, record.reclen});
        channel.longest = std::max<std::int64_t>(channel.longest, record.samplecnt);
    }

    /// Channels in the order of the receivers, who are named after them or after their stations.
    void order_as(const std::vector<std::string>& names) {
        std::vector<std::size_t> old_places;
        for (const std::string& name : names) {
            std::vector<std::size_t> matches;
            for (std::size_t c = 0; c < channels_.size(); ++c)
                if (channels_[c].name == name || station_of(channels_[c].name) == name) matches.push_back(c);
            if (matches.size() != 1)
                throw io::BadFile(paths_.front(),
                                  fmt::format("{} channel for the receiver '{}' (there is {}, for example); name "
                                              "receivers as their channels are, network.station.location.channel, or "
                                              "leave names out if they come in the same order",
                                              matches.empty() ? "there is no" : "there is more than one",
                                              io::printable(name), channels_.front().name));
            if (std::find(old_places.begin(), old_places.end(), matches.front()) != old_places.end())
                throw io::BadFile(paths_.front(), fmt::format("two receivers stand for the channel {}; name each once",
                                                              channels_[matches.front()].name));
            old_places.push_back(matches.front());
        }
        std::vector<Channel> ordered;
        std::map<std::size_t, std::size_t> new_places;
        for (const std::size_t old : old_places) {
            new_places.emplace(old, ordered.size());
            ordered.push_back(channels_[old]);
        }
        std::vector<Start> starts;
        for (Start start : starts_) {
            const auto place = new_places.find(start.channel);
            if (place == new_places.end()) continue;  // a channel that no receiver names
            start.channel = place->second;
            starts.push_back(start);
        }
        channels_ = std::move(ordered);
        starts_ = std::move(starts);
        start_time_ = starts_.front().time;
        for (const Start& start : starts_) start_time_ = std::min(start_time_, start.time);
    }

    static std::string station_of(const std::string& name) {
        const auto first = name.find('.');
        return name.substr(first + 1, name.find('.', first + 1) - first - 1);
    }

    /// From times to samples, counted from the earliest of all channels; a time between two goes to the nearer.
    void place_pieces() {
        for (const Start& start : starts_) {
            const double seconds = static_cast<double>(start.time - start_time_) / HPTMODULUS;
            Piece& piece = channels_[start.channel].pieces[start.piece];
            if (!(seconds * rate_ < kLatestSample))
                throw io::BadFile(paths_[piece.file],
                                  fmt::format("the record at byte {} begins {:.6g} s after the first one; is its clock "
                                              "damaged? Correct it or leave the file out",
                                              piece.offset, seconds));
            piece.first = std::llround(seconds * rate_);
            samples_ = std::max(samples_, piece.first + piece.samples);
        }
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            auto& pieces = channels_[c].pieces;
            std::stable_sort(pieces.begin(), pieces.end(),
                             [](const Piece& a, const Piece& b) { return a.first < b.first; });
            std::int64_t end = 0;
            for (const Piece& piece : pieces) {
                note_gap(c, end, piece.first);
                end = std::max(end, piece.first + piece.samples);
            }
            note_gap(c, end, samples_);
        }
    }

    void note_gap(std::size_t channel, std::int64_t from, std::int64_t until) {
        if (until > from) gaps_.push_back({from, until - from, static_cast<std::int64_t>(channel)});
    }

    void decode(const Piece& piece, std::int64_t first, std::int64_t count, float* row) {
        const std::string& path = paths_[piece.file];
        if (!file_ || opened_ != piece.file) {
            file_ = io::open_for_reading(path);
            opened_ = piece.file;
        }
        bytes_.resize(static_cast<std::size_t>(piece.bytes));
        MSRecord* unpacked = nullptr;
        if (fseeko(file_.get(), piece.offset, SEEK_SET) != 0 ||
            std::fread(bytes_.data(), 1, bytes_.size(), file_.get()) != bytes_.size() ||
            msr_unpack(bytes_.data(), piece.bytes, &unpacked, 1, 0) != MS_NOERROR) {
            msr_free(&unpacked);
            throw io::BadFile(path, fmt::format("the record at byte {} cannot be decoded; restore it", piece.offset));
        }
        const std::unique_ptr<MSRecord, FreeMsr> record(unpacked);
        if (record->numsamples != piece.samples)
            throw io::BadFile(path, fmt::format("the record at byte {} holds {} samples and announces {}; restore it",
                                                piece.offset, record->numsamples, piece.samples));
        const std::int64_t begin = std::max(first, piece.first);
        const std::int64_t end = std::min(first + count, piece.first + record->numsamples);
        for (std::int64_t k = begin; k < end; ++k) row[k - first] = value_of(*record, k - piece.first, path);
    }

    static float value_of(const MSRecord& record, std::int64_t i, const std::string& path) {
        switch (record.sampletype) {
            case 'i': return static_cast<float>(static_cast<const std::int32_t*>(record.datasamples)[i]);
            case 'f': return static_cast<const float*>(record.datasamples)[i];
            case 'd': return static_cast<float>(static_cast<const double*>(record.datasamples)[i]);
            default: throw io::BadFile(path, "holds text instead of samples; leave out log channels");
        }
    }

    struct Start {
        std::size_t channel, piece;
        hptime_t time;
    };

    std::vector<std::string> paths_;
    std::vector<Channel> channels_;
    std::map<std::string, std::size_t> numbers_;
    std::vector<Start> starts_;
    hptime_t start_time_ = 0;
    io::File file_;
    std::size_t opened_ = 0;
    std::vector<char> bytes_;
};

}  // namespace

std::unique_ptr<Record> open_miniseed(const std::vector<std::string>& paths, const RecordOptions& options) {
    auto record = std::make_unique<MiniSeedRecord>(paths, options.names);
    check_rate(paths.front(), record->rate(), options.rate);
    return record;
}

}  // namespace espalier::bench::seismic
