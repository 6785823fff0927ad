#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/apps/seismic/formats.hpp"

namespace espalier::bench::seismic {

void check_is_file(const std::string& path) {
    struct stat status {};
    const bool stream = path == kStandardStream;
    if (stream || (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
        throw io::BadFile(stream ? "standard input" : path,
                          "is no regular file, and a record is read in several places of it; save it to a file first");
}

void check_rate(const std::string& path, double rate, double expected) {
    if (expected > 0 && std::abs(rate - expected) > 1e-6 * expected)
        throw io::BadFile(
            path, fmt::format("has {} samples per second, but --rate says {}; leave --rate out", rate, expected));
}

std::vector<Gap> gaps_between(const std::vector<Segment>& segments) {
    std::vector<Gap> gaps;
    std::int64_t end = segments.empty() ? 0 : segments.front().first;
    for (const Segment& segment : segments) {
        if (segment.first < end)
            throw io::BadFile(segment.path, "begins at sample " + std::to_string(segment.first) +
                                                ", before the file ahead of it ends, at " + std::to_string(end) +
                                                "; give each file once and in order of time");
        if (segment.first > end) gaps.push_back({end, segment.first - end});
        end = segment.first + segment.samples;
    }
    return gaps;
}

std::pair<std::size_t, std::size_t> segments_of(const std::vector<Segment>& segments, std::int64_t first,
                                                std::int64_t count) {
    const auto begin = std::partition_point(segments.begin(), segments.end(),
                                            [&](const Segment& s) { return s.first + s.samples <= first; });
    const auto end =
        std::partition_point(begin, segments.end(), [&](const Segment& s) { return s.first < first + count; });
    return {static_cast<std::size_t>(begin - segments.begin()), static_cast<std::size_t>(end - segments.begin())};
}

}  // namespace espalier::bench::seismic
