#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/records/conditions.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// How a case ended.
/// `too_slow` is an outcome of samples alone: a smaller problem took hundreds of times as long as the fastest there.
/// `not_measured` is the only one that leaves something to be found out.
enum class Status { ok, unsupported, wrong, timeout, crashed, out_of_memory, too_slow, not_measured };

std::string_view to_string(Status status);
std::optional<Status> parse_status(std::string_view text);

/// The variant ran and did not do what it should: neither right, nor declined, nor left out.
constexpr bool is_failure(Status status) {
    return status == Status::wrong || status == Status::crashed || status == Status::timeout ||
           status == Status::out_of_memory;
}

/// Where a measurement comes from: enough to tell whether two may be pooled and whether one is stale.
struct Provenance {
    std::string device_key;
    std::string driver;     ///< driver version; for a CPU the kernel's release
    std::string runtime;    ///< CUDA runtime version; for a CPU the compiler's
    std::string build;      ///< identity of the build: compiler, flags, version
    std::string source_id;  ///< SHA-256 of the variant's source (see cmake/SourceIds.cmake)
    std::string cache;      ///< "cold", "clean" or "warm"
    std::string session;    ///< one run of a sweep; sorts by start; only its own ratios are paired
};

/// What of a record's build its times depend on: on a GPU all but the host's compiler and its flags, which make no code
/// that runs there.
std::string timed_build(const Provenance& provenance, DeviceKind kind);

/// What of a record's driver its times depend on: of a Linux kernel its version, not which build of that it is.
std::string_view timed_driver(const Provenance& provenance);

/// The reason of a `not_measured` case that the sweep's time did not suffice for.
inline constexpr const char* kTimeBudget = "time budget";

/// The value of an axis in a problem's key; nothing if the key leaves it out.
std::optional<std::string_view> axis_of(std::string_view problem, std::string_view name);

/// One case of a sweep: problem x variant x configuration x device, and what came of it.
/// This is what the journal, results/<device-key>/<family>.jsonl and the CSV hold; the JSON Schema is
/// results/schema/case.schema.json. Read with `load_results` (results.hpp) or `load_journal` (journal.hpp).
struct CaseRecord {
    std::string family, variant, role;
    std::string problem, configuration;  ///< canonical key, configuration text
    Status status = Status::not_measured;
    std::string reason;  ///< why not ok; never empty then

    /// The reference of an `ok` result; a "twin" is the scaled-down problem: "oracle", "twin", "twin+baseline",
    /// "twin+fastest" or "baseline" (sweep/worker/verify.hpp).
    std::string verification;

    /// The variants that ran as its stages, "distance/register_tile" each; none for what has no stages, and in records
    /// from before this was noted.
    std::vector<std::string> stages;

    std::vector<double> samples_ns;  ///< raw, in the order taken; sample i of all candidates is from round i
    double time_ns = 0, time_lo_ns = 0, time_hi_ns = 0;  ///< median and its 95% interval

    double bytes = 0, ops = 0;  ///< the problem's least work
    double floor_ns = 0;        ///< its roofline bound on the device; 0 if unknown
    Conditions conditions;
    NamedValues features;         ///< in the family's order; categories by index
    NamedValues counters;         ///< CUPTI name, value
    std::string counters_reason;  ///< why some are missing or of another session; else empty

    Provenance provenance;

    /// Whether there is something to be found out yet: it was not reached, or not asked for.
    [[nodiscard]] bool is_open() const { return status == Status::not_measured; }
    /// The value of an axis in the problem's key; nothing if the key leaves it out.
    [[nodiscard]] std::optional<std::string_view> axis(std::string_view name) const;
    /// Equal for two records of the same case within a device's results.
    [[nodiscard]] std::string key() const { return family + "/" + variant + "|" + problem + "|" + configuration; }
};

}  // namespace espalier::bench
