#include "harness/bench/report/exports.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "harness/bench/records/disturbance.hpp"

namespace espalier::bench::report {
namespace {

using nlohmann::ordered_json;

constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr double kNanosecondsPerSecond = 1e9;

ordered_json benchmark(const CaseRecord& record, std::size_t index) {
    const std::string name = record.family + "/" + record.variant + "/" + record.problem + "/" + record.configuration;
    ordered_json entry{{"name", name},
                       {"family_index", index},
                       {"per_family_instance_index", 0},
                       {"run_name", name},
                       {"run_type", "iteration"},
                       {"repetitions", 1},
                       {"repetition_index", 0},
                       {"threads", 1}};
    const double per_second = kNanosecondsPerSecond / record.time_ns;
    entry["iterations"] = record.samples_ns.size();
    entry["real_time"] = record.time_ns;
    entry["cpu_time"] = record.time_ns;  // readers insist on it; these times are wall-clock or device time
    entry["time_unit"] = "ns";
    entry["bytes_per_second"] = record.bytes * per_second;
    entry["items_per_second"] = record.ops * per_second;
    entry["label"] = record.role;
    if (const auto cause = disturbance_name(record); !cause.empty()) entry["disturbed"] = cause;
    for (const auto& [counter, value] : record.counters) entry[counter] = value;
    return entry;
}

/// "block=256;items=4" as members; a value that is no number stays text.
void add_settings(ordered_json& configuration, std::string_view text) {
    while (!text.empty() && text != "default") {
        const auto item = text.substr(0, text.find(';'));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const auto equals = item.find('=');
        if (equals == std::string_view::npos) continue;
        const auto value = item.substr(equals + 1);
        int number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        const std::string name(item.substr(0, equals));
        if (error == std::errc() && end == value.data() + value.size())
            configuration[name] = number;
        else
            configuration[name] = value;
    }
}

/// The format's names of the ways of failing.
std::string_view invalidity(Status status) {
    switch (status) {
        case Status::ok: return "correct";
        case Status::wrong: return "correctness";
        case Status::timeout:
        case Status::too_slow: return "timeout";
        case Status::unsupported: return "constraints";
        case Status::crashed:
        case Status::out_of_memory:
        case Status::not_measured: break;
    }
    return "runtime";
}

ordered_json tuning_result(const CaseRecord& record) {
    ordered_json configuration{{"family", record.family}, {"problem", record.problem}, {"variant", record.variant}};
    add_settings(configuration, record.configuration);
    auto runtimes = ordered_json::array();
    for (const double sample : record.samples_ns) runtimes.push_back(sample / kNanosecondsPerMillisecond);
    auto measurements = ordered_json::array();
    const bool ok = record.status == Status::ok;
    if (ok) {
        measurements.push_back(
            {{"name", "time"}, {"value", record.time_ns / kNanosecondsPerMillisecond}, {"unit", "ms"}});
        for (const auto& [counter, value] : record.counters)
            measurements.push_back({{"name", counter}, {"value", value}, {"unit", ""}});
        if (const auto disturbance = disturbance_of(record))
            measurements.push_back({{"name", fmt::format("disturbed_by_{}", to_string(disturbance->cause))},
                                    {"value", disturbance->share},
                                    {"unit", "share"}});
    }
    return {{"configuration", std::move(configuration)},
            {"objectives", {"time"}},
            {"times", {{"runtimes", std::move(runtimes)}}},
            {"invalidity", invalidity(record.status)},
            {"correctness", ok ? 1 : 0},
            {"measurements", std::move(measurements)}};
}

}  // namespace

std::string google_benchmark_json(const DeviceInfo& device, std::span<const CaseRecord> cases) {
    const Provenance none;
    const Provenance& provenance = cases.empty() ? none : cases.front().provenance;
    auto benchmarks = ordered_json::array();
    // compare.py takes the mean of every entry's time and fails at one that has none.
    for (const CaseRecord& record : cases)
        if (record.status == Status::ok) benchmarks.push_back(benchmark(record, benchmarks.size()));
    return ordered_json{{"context",
                         {{"executable", "espalier"},
                          {"num_cpus", device.threads},
                          {"device", device.name},
                          {"device_key", device.key},
                          {"driver", provenance.driver},
                          {"runtime", provenance.runtime},
                          {"build", provenance.build},
                          {"cases_without_a_time", cases.size() - benchmarks.size()}}},
                        {"benchmarks", std::move(benchmarks)}}
               .dump(1) +
           "\n";
}

std::string t4_json(std::span<const CaseRecord> cases) {
    auto results = ordered_json::array();
    for (const CaseRecord& record : cases)
        if (record.status != Status::not_measured) results.push_back(tuning_result(record));
    return ordered_json{{"schema_version", "1.0.0"}, {"results", std::move(results)}}.dump(1) + "\n";
}

}  // namespace espalier::bench::report
