#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/apps/io/file.hpp"

namespace espalier::bench::seismic {

/// Where a record of miniSEED 2 or 3 lies in its file, and when its samples were taken.
struct MiniSeedBlock {
    std::int64_t offset = 0, bytes = 0;
    std::int64_t start = 0;  ///< nanoseconds since 1970, UTC
    std::int64_t samples = 0;
    double rate = 0;  ///< samples per second; 0: no series in time
    int version = 2;
};

/// A record's header.
struct MiniSeedHeader {
    MiniSeedBlock block;
    std::string name;    ///< network.station.location.channel
    std::string source;  ///< miniSEED 3: the source identifier as it stands there
    bool text = false;
};

/// How far a file has been scanned, and which stretches so far belong to no record.
struct MiniSeedScan {
    std::int64_t offset = 0;
    std::int64_t skipped_blocks = 0, skipped_bytes = 0, first_skipped = 0;
    bool any = false;  ///< record was found
};

/// Finds the records of a file, one after the other, whatever lies between them: blank and noise records, comments,
/// remains of damaged records. Holds a part of the file in memory.
class MiniSeedScanner {
public:
    /// Goes on where another one ended. A file that grows may end in what is no whole record yet, and have none.
    explicit MiniSeedScanner(std::string path, const MiniSeedScan& from = {}, bool growing = false);

    /// The next record; nothing at the end. Throws BadFile for a record that is short or whose checksum is wrong, and
    /// for a file without any.
    std::optional<MiniSeedHeader> next();

    [[nodiscard]] const MiniSeedScan& scan() const { return scan_; }
    /// Bytes at the end of a file that grows that were left for later.
    [[nodiscard]] std::int64_t left_bytes() const { return size_ - scan_.offset; }

private:
    [[nodiscard]] std::span<char> at(std::int64_t offset, std::int64_t bytes);
    [[nodiscard]] std::int64_t find_record(std::int64_t from);
    [[nodiscard]] std::optional<std::int64_t> length_of(std::int64_t offset);
    void skip_to(std::int64_t offset);
    [[noreturn]] void refuse_short(std::int64_t offset) const;

    std::string path_;
    io::File file_;
    MiniSeedScan scan_;
    bool growing_;
    std::int64_t size_ = 0;
    std::vector<char> buffer_;
    std::int64_t buffer_begin_ = 0, buffer_bytes_ = 0;
};

/// Keeps libmseed from writing to the standard error: what is wrong is said by exceptions.
void silence_libmseed();

/// Decodes a record's samples to floats. Returns what is wrong with it, or nothing: whether it holds as many as its
/// header says, and for the Steim encodings whether the last one is the one that its first frame announces.
[[nodiscard]] std::optional<std::string> decode_miniseed(std::span<char> record, const MiniSeedBlock& block,
                                                         std::vector<float>& samples);

}  // namespace espalier::bench::seismic
