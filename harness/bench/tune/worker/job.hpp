#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/records/conditions.hpp"
#include "harness/bench/sweep/plan/caches.hpp"
#include "harness/bench/tune/space/space.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench::tune {

/// What a worker is to do: verify and time compiled configurations of one problem.
struct Job {
    struct Candidate {
        Configuration configuration;
        std::filesystem::path module;  ///< compiled
        std::string kernel;            ///< its name in the module
        bool verified = false;         ///< by an earlier worker
        bool reference = false;        ///< launched as the reference is
    };

    std::filesystem::path description;
    std::string device;  ///< its number
    std::size_t problem = 0;
    Caches caches = Caches::cold;
    std::vector<Candidate> candidates;
    std::filesystem::path expected;  ///< bytes of the outputs; empty: nothing is checked
    std::filesystem::path save;      ///< where to write the outputs of the first candidate; empty: nowhere
    bool timed = true;
    double noise = 0.02;  ///< relative half-width of the interval of a candidate's ratio to the best
    double seconds = 10;  ///< for timing
    std::uint64_t seed = 1;
    bool counters = false;  ///< hardware counters of every candidate, too
};

std::string encode(const Job& job);
Job decode_job(const std::string& text);

/// Why a configuration counts for nothing, as T4 names it.
enum class Invalidity : std::uint8_t { correct, constraints, compile, runtime, correctness, timeout };
const char* to_string(Invalidity invalidity);
std::optional<Invalidity> invalidity_named(const std::string& name);

/// One line of what a worker found, about a candidate or the device.
struct Finding {
    std::optional<std::size_t> candidate;
    Invalidity invalidity = Invalidity::correct;
    std::string reason;
    bool verified = false;  ///< just now, in `verify_seconds`
    double verify_seconds = 0;
    std::vector<double> samples_ns;
    double resolution_ns = 0;
    NamedValues counters;
    std::string counters_reason;
    std::optional<DeviceInfo> device;
    std::string driver, runtime;
    std::optional<Conditions> conditions;  ///< while the job was timed
};

std::string encode(const Finding& finding);
Finding decode_finding(const std::string& line);

}  // namespace espalier::bench::tune
