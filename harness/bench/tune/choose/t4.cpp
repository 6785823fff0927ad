#include "harness/bench/tune/choose/t4.hpp"

#include <fmt/format.h>

namespace espalier::bench::tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMsOfNs = 1e-6, kMsOfSeconds = 1e3;

Json json_of(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return *whole;
    if (const auto* real = std::get_if<double>(&value.data)) return *real;
    if (const auto* truth = std::get_if<bool>(&value.data)) return *truth;
    return spelled(value);
}

Json measurement(const std::string& name, const Json& value, const char* unit) {
    return {{"name", name}, {"value", value}, {"unit", unit}};
}

Json measurements_of(const Outcome& outcome) {
    Json all = Json::array();
    if (outcome.timed()) {
        all.push_back(measurement("time", outcome.time_ns * kMsOfNs, "ms"));
        all.push_back(measurement("time_low", outcome.low_ns * kMsOfNs, "ms"));
        all.push_back(measurement("time_high", outcome.high_ns * kMsOfNs, "ms"));
        all.push_back(measurement("known_after", outcome.at_seconds, "s"));
        all.push_back(measurement("final", outcome.final ? 1 : 0, ""));
    }
    if (!outcome.reason.empty()) all.push_back(measurement("reason", outcome.reason, ""));
    for (const auto& [name, value] : outcome.counters) all.push_back(measurement(name, value, ""));
    return all;
}

Json result_of(const Description& description, const Outcome& outcome) {
    Json configuration = Json::object(), runtimes = Json::array();
    for (std::size_t p = 0; p < outcome.configuration.size(); ++p)
        configuration[description.parameters[p].name] =
            json_of(description.parameters[p].values[outcome.configuration[p]]);
    for (const double sample : outcome.samples_ns) runtimes.push_back(sample * kMsOfNs);
    Json result{{"timestamp", outcome.timestamp},
                {"configuration", configuration},
                {"objectives", Json::array({"time"})},
                {"times",
                 {{"compilation_time", outcome.compile_seconds * kMsOfSeconds},
                  {"runtimes", runtimes},
                  {"framework", 0},
                  {"search_algorithm", 0},
                  {"validation", outcome.verify_seconds * kMsOfSeconds}}},
                {"invalidity", to_string(outcome.invalidity)},
                {"correctness", outcome.invalidity == Invalidity::correct ? 1 : 0},
                {"measurements", measurements_of(outcome)}};
    if (!description.size_names.empty()) result["problem_size"] = description.sizes[outcome.problem];
    return result;
}

}  // namespace

nlohmann::ordered_json t4_results(const Description& description, const Tuning& tuning) {
    Json results = Json::array();
    for (const Outcome& outcome : tuning.outcomes) results.push_back(result_of(description, outcome));
    return {{"schema_version", "1.0.0"}, {"results", results}};
}

}  // namespace espalier::bench::tune
