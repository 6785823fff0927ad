#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace espalier::bench::seismic {

/// What a trace's header says.
struct SegyTrace {
    std::optional<std::int64_t> clock;  ///< seconds since 1970: the time written in the header, whole seconds
    std::int64_t delay = 0;             ///< nanoseconds from there to the first sample: the delay of recording
    int kind = 1;                       ///< its identification code; 1: seismic data

    /// Whether its samples are a recording of the receiver: codes 2 to 8 are dead, dummy and auxiliary traces.
    [[nodiscard]] bool is_recording() const { return kind < 2 || kind > 8; }
    /// Nanoseconds since 1970, or since an unknown time without a clock.
    [[nodiscard]] std::int64_t start() const { return clock.value_or(0) * 1'000'000'000 + delay; }
};

/// What the headers of a SEG-Y file say. Numbers of samples and intervals are unsigned: up to 65,535.
struct SegyHeaders {
    int samples = 0, format = 0;
    long trace0 = 0;      ///< where the traces begin, in bytes
    int trace_bytes = 0;  ///< of a trace's samples
    double interval = 0;  ///< microseconds; 0: the file does not say
    bool utc = true;      ///< whether the clocks may be taken for UTC
    std::vector<SegyTrace> traces;
};

/// Reads and checks them. Throws BadFile that names the trace, for what is not read as well as for what is damaged.
SegyHeaders read_segy_headers(const std::string& path);

/// What a trace that is no recording is: "dead", "a sweep".
const char* segy_kind(int kind);

}  // namespace espalier::bench::seismic
