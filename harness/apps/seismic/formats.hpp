#pragma once

#include "harness/apps/seismic/record.hpp"

/// One function per format, in a file each. All throw BadFile.
namespace espalier::bench::seismic {

/// A JSON file that names raw files and says where each begins (schema in docs/locate.md).
std::unique_ptr<Record> open_index(const std::vector<std::string>& paths, const RecordOptions& options);

/// 32-bit little-endian floats, receiver after receiver within each file, one file after the other in time.
std::unique_ptr<Record> open_raw(const std::vector<std::string>& paths, const RecordOptions& options);

/// SEG-Y, a trace per receiver in each file, each beginning by its own clock and delay of recording; IBM and IEEE
/// floats of 4 bytes, integers of 1, 2 and 4.
std::unique_ptr<Record> open_segy(const std::vector<std::string>& paths, const RecordOptions& options);

/// miniSEED 2 and 3, a channel per receiver; records in any order, any encoding that libmseed decodes.
std::unique_ptr<Record> open_miniseed(const std::vector<std::string>& paths, const RecordOptions& options);

/// A file of a record and where its samples lie in it.
struct Segment {
    std::string path;
    std::int64_t first = 0, samples = 0;

    bool operator==(const Segment&) const = default;
};

/// Throws for a pipe or a device: records are read in several places, some of them more than once.
void check_is_file(const std::string& path);

/// Throws if a file's sampling rate is not the one that the user expects; 0 expects nothing.
void check_rate(const std::string& path, double rate, double expected);

/// Checks that segments follow each other in time and returns what is missing between them.
std::vector<Gap> gaps_between(const std::vector<Segment>& segments);

/// The segments that hold any of [first, first + count), for segments in order.
std::pair<std::size_t, std::size_t> segments_of(const std::vector<Segment>& segments, std::int64_t first,
                                                std::int64_t count);

}  // namespace espalier::bench::seismic
