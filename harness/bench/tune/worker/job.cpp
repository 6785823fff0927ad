#include "harness/bench/tune/worker/job.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "harness/bench/records/codec.hpp"

namespace espalier::bench::tune {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 6> kInvalidities{"correct", "constraints", "compile",
                                                   "runtime", "correctness", "timeout"};

/// Messages of compilers and drivers may hold any bytes.
std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json named(const NamedValues& values) {
    json object = json::object();
    for (const auto& [name, value] : values) object[name] = value;
    return object;
}

NamedValues values_of(const json& object) {
    NamedValues values;
    for (const auto& [name, value] : object.items()) values.emplace_back(name, value.get<double>());
    return values;
}

}  // namespace

const char* to_string(Invalidity invalidity) { return kInvalidities[static_cast<std::size_t>(invalidity)]; }

std::optional<Invalidity> invalidity_named(const std::string& name) {
    const auto found = std::ranges::find(kInvalidities, name);
    if (found == kInvalidities.end()) return std::nullopt;
    return static_cast<Invalidity>(found - kInvalidities.begin());
}

std::string encode(const Job& job) {
    json candidates = json::array();
    for (const Job::Candidate& one : job.candidates)
        candidates.push_back({{"configuration", one.configuration},
                              {"module", one.module.string()},
                              {"kernel", one.kernel},
                              {"verified", one.verified},
                              {"reference", one.reference}});
    return dumped({{"description", job.description.string()},
                   {"device", job.device},
                   {"problem", job.problem},
                   {"caches", to_string(job.caches)},
                   {"candidates", candidates},
                   {"expected", job.expected.string()},
                   {"save", job.save.string()},
                   {"timed", job.timed},
                   {"noise", job.noise},
                   {"seconds", job.seconds},
                   {"seed", job.seed},
                   {"counters", job.counters}});
}

Job decode_job(const std::string& text) {
    const json body = json::parse(text);
    Job job;
    job.description = body.at("description").get<std::string>();
    job.device = body.at("device");
    job.problem = body.at("problem");
    job.caches = caches_named(body.at("caches").get<std::string>()).value_or(Caches::cold);
    for (const json& one : body.at("candidates"))
        job.candidates.push_back({one.at("configuration").get<Configuration>(), one.at("module").get<std::string>(),
                                  one.at("kernel"), one.at("verified"), one.at("reference")});
    job.expected = body.at("expected").get<std::string>();
    job.save = body.at("save").get<std::string>();
    job.timed = body.at("timed");
    job.noise = body.at("noise");
    job.seconds = body.at("seconds");
    job.seed = body.at("seed");
    job.counters = body.at("counters");
    return job;
}

std::string encode(const Finding& finding) {
    json body = json::object();
    if (finding.candidate) body["candidate"] = *finding.candidate;
    if (finding.invalidity != Invalidity::correct) body["invalidity"] = to_string(finding.invalidity);
    if (!finding.reason.empty()) body["reason"] = finding.reason;
    if (finding.verified) body["verified"] = finding.verify_seconds;
    if (!finding.samples_ns.empty()) body["samples_ns"] = finding.samples_ns;
    if (finding.resolution_ns > 0) body["resolution_ns"] = finding.resolution_ns;
    if (!finding.counters.empty()) body["counters"] = named(finding.counters);
    if (!finding.counters_reason.empty()) body["counters_reason"] = finding.counters_reason;
    if (finding.device) {
        body["device"] = bench::encode(*finding.device);
        body["driver"] = finding.driver;
        body["runtime"] = finding.runtime;
    }
    if (finding.conditions) body["conditions"] = named(named_values(*finding.conditions));
    return dumped(body);
}

Finding decode_finding(const std::string& line) {
    const json body = json::parse(line);
    Finding finding;
    if (body.contains("candidate")) finding.candidate = body["candidate"].get<std::size_t>();
    finding.invalidity = invalidity_named(body.value("invalidity", "correct")).value_or(Invalidity::runtime);
    finding.reason = body.value("reason", "");
    finding.verified = body.contains("verified");
    finding.verify_seconds = body.value("verified", 0.0);
    finding.samples_ns = body.value("samples_ns", std::vector<double>{});
    finding.resolution_ns = body.value("resolution_ns", 0.0);
    if (body.contains("counters")) finding.counters = values_of(body["counters"]);
    finding.counters_reason = body.value("counters_reason", "");
    if (body.contains("device")) {
        finding.device = decode_device(body["device"]);
        finding.driver = body.value("driver", "");
        finding.runtime = body.value("runtime", "");
    }
    if (body.contains("conditions")) finding.conditions = conditions_of(values_of(body["conditions"]));
    return finding;
}

}  // namespace espalier::bench::tune
