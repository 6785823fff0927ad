#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace espalier::bench::seismic {

/// Samples that no file holds and that are read as zeros.
struct Gap {
    std::int64_t first = 0, samples = 0;
    std::int64_t receiver = -1;  ///< -1: of all receivers
};

/// A continuous record of many receivers, wherever its samples are: sample k of every receiver was taken at the
/// same time. Reading goes forward in pieces of any length, whatever the lengths of the files.
class Record {
public:
    virtual ~Record() = default;

    [[nodiscard]] std::int64_t receivers() const { return receivers_; }
    [[nodiscard]] std::int64_t samples() const { return samples_; }  ///< per receiver, gaps included
    [[nodiscard]] double rate() const { return rate_; }              ///< samples per second
    [[nodiscard]] const std::string& format() const { return format_; }
    [[nodiscard]] const std::string& start() const { return start_; }  ///< ISO 8601, or empty if the files do not say
    /// Nanoseconds since 1970, UTC, of sample 0; nothing if the files do not say, or say it in a local time.
    [[nodiscard]] const std::optional<std::int64_t>& start_time() const { return start_time_; }
    [[nodiscard]] const std::vector<Gap>& gaps() const { return gaps_; }
    /// Per receiver the channel that its samples come from, "" if no file has one; empty where channels have no names.
    [[nodiscard]] const std::vector<std::string>& channels() const { return channels_; }
    /// What was skipped, left out or decided in reading the files, a sentence each.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
    /// The files that an index lists; empty for a record without one.
    [[nodiscard]] const std::vector<std::string>& listed_files() const { return listed_files_; }
    /// The file of the receivers' coordinates that the record itself names; may be empty.
    [[nodiscard]] const std::string& receivers_path() const { return receivers_path_; }

    /// Writes samples [first, first + count) of receiver r to `to + r * stride`, for all receivers; zeros in gaps and
    /// outside of the record. Throws BadFile if a file cannot be read or holds a sample that is no finite number.
    void read(std::int64_t first, std::int64_t count, float* to, std::int64_t stride);

    /// Throws BadFile for a gap of more seconds than that, which a damaged clock makes of nothing; so will `grow`. What
    /// a receiver lacks at the end of a record that grows may come yet.
    void check_gaps(double longest, bool growing = false);

    /// Looks for what was added to the files of a record that was opened as one that grows. Returns whether there are
    /// more samples. Throws BadFile for a file that was replaced or became shorter, and for what `open_record` refuses.
    bool grow();

    /// Samples that are there of all receivers, or lie in gaps that ended: nothing will be added to them, if receivers
    /// send theirs in order.
    [[nodiscard]] std::int64_t complete() const { return complete_; }

    /// Samples that came after `read` had returned zeros for them.
    [[nodiscard]] std::int64_t late_samples() const { return late_samples_; }

    /// Whether no file holds a sample of any receiver in [first, first + count), which is all zeros then. False until
    /// `find_silences` was called.
    [[nodiscard]] bool silent(std::int64_t first, std::int64_t count) const;

    /// Finds where all receivers have gaps at once, which nobody has to read and sum.
    void find_silences();

protected:
    Record() = default;
    Record(const Record&) = default;
    Record& operator=(const Record&) = delete;

    /// Writes zeros where samples of [first, first + count) lie in gaps.
    void clear_gaps(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) const;

    /// Reads samples within the record. Writes every sample that lies in no gap, and none of those that do.
    virtual void read_within(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) = 0;

    /// The name of the file that a sample comes from, for messages; of a sample in no gap.
    [[nodiscard]] virtual std::string file_of(std::int64_t receiver, std::int64_t sample) const = 0;

    /// What `grow` does, without what follows from it: brings samples_, complete_, gaps_ and notes_ up to date. Returns
    /// whether there are more samples.
    virtual bool look_again() { return false; }

    /// The same of another record, for those that wrap one.
    [[nodiscard]] static std::string file_in(const Record& record, std::int64_t receiver, std::int64_t sample) {
        return record.file_of(receiver, sample);
    }
    void take_growth(const Record& from);

    std::int64_t receivers_ = 0, samples_ = 0, complete_ = 0;
    double rate_ = 0;
    std::string format_, start_, receivers_path_;
    std::optional<std::int64_t> start_time_;
    std::vector<Gap> gaps_;  ///< those of one receiver do not overlap, nor do those of all
    std::vector<std::string> listed_files_, channels_, notes_;

private:
    void check_finite(std::int64_t first, std::int64_t count, const float* values, std::int64_t stride) const;
    [[nodiscard]] std::int64_t missing_until(std::int64_t sample) const;

    double longest_gap_ = 0;  ///< seconds
    std::int64_t read_until_ = 0, late_samples_ = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> silences_;  ///< from, until; in order
};

/// Which of two records of one channel counts where they overlap and differ.
enum class Overlap : std::uint8_t { refuse, first, last };

struct RecordOptions {
    std::string format = "auto";     ///< auto, raw, segy, miniseed
    double rate = 0;                 ///< of raw files and SEG-Y that do not say it; for the others a check if not 0
    std::int64_t receivers = 0;      ///< of raw files without an index, from the file of coordinates
    std::vector<std::string> names;  ///< of the receivers, to find their channels by; may be empty
    bool fill_missing = false;       ///< files that are missing or short, and channels, become gaps instead of errors
    double longest_gap = 86400;      ///< seconds; longer ones are refused
    Overlap overlap = Overlap::refuse;
    bool growing = false;  ///< files are still written: what is not whole at their ends is left for `grow`
};

/// "2024-02-29T13:00:00.000000": nanoseconds since 1970, to the nearest microsecond.
std::string iso_time(std::int64_t nanoseconds);

/// Opens a record: an index (.json) that lists raw files, or the files themselves in order of time. Looks at
/// every file's size or headers, so that what is missing is known before hours of computing. Throws BadFile.
std::unique_ptr<Record> open_record(const std::vector<std::string>& paths, const RecordOptions& options);

/// Whether the paths name a format for which `RecordOptions::receivers` must be given.
bool needs_receiver_count(const std::vector<std::string>& paths, const RecordOptions& options);

}  // namespace espalier::bench::seismic
