#include "harness/bench/sweep/worker/protocol.hpp"

#include "harness/bench/records/codec.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::protocol {
namespace {

using nlohmann::json;

json to_json(const DeviceInfo& device) { return json::parse(espalier::bench::encode(device).dump()); }

/// What is recorded of a device says nothing of which one of its kind it is.
DeviceInfo with_uuid(DeviceInfo device, std::string uuid) {
    device.uuid = std::move(uuid);
    return device;
}

json body(const Hello& e) {
    return {{"event", "hello"},
            {"device", to_json(e.device)},
            {"uuid", e.device.uuid},
            {"driver", e.driver},
            {"runtime", e.runtime},
            {"build", e.build},
            {"free_device", e.free.device},
            {"free_host", e.free.host},
            {"gpus", e.gpus}};
}
json body(const NoDevice& e) { return {{"event", "no_device"}, {"reason", e.reason}, {"gpus", e.gpus}}; }
json body(const CeilingsDone& e) { return {{"event", "ceilings"}, {"device", to_json(e.device)}}; }
json body(const CopiesMeasured& e) {
    return {{"event", "copies"},
            {"pageable_to_device", e.rates.pageable_to_device},
            {"pageable_to_host", e.rates.pageable_to_host},
            {"pinned_to_device", e.rates.pinned_to_device},
            {"pinned_to_host", e.rates.pinned_to_host}};
}
json body(const Verified& e) { return {{"event", "verified"}, {"candidate", e.candidate}, {"how", e.how}}; }
json body(const Failed& e) {
    return {{"event", "failed"}, {"candidate", e.candidate}, {"status", to_string(e.status)}, {"reason", e.reason}};
}
json body(const Timed& e) {
    return {{"event", "timed"},
            {"candidate", e.candidate},
            {"samples_ns", e.samples_ns},
            {"resolution_ns", e.resolution_ns}};
}
json body(const Counted& e) {
    return {{"event", "counted"}, {"candidate", e.candidate}, {"counters", e.counters}, {"reason", e.reason}};
}
json body(const CountersChecked& e) { return {{"event", "counters_checked"}, {"reason", e.reason}}; }
json body(const Done& e) {
    return {{"event", "done"},
            {"timing_seconds", e.timing_seconds},
            {"verification_seconds", e.verification_seconds},
            {"counting_seconds", e.counting_seconds},
            {"conditions", e.conditions}};
}

}  // namespace

std::string encode(const Measure& request) {
    auto candidates = json::array();
    for (const auto& candidate : request.candidates)
        candidates.push_back({{"variant", candidate.variant}, {"configuration", candidate.configuration}});
    return json{{"request", "measure"},
                {"family", request.family},
                {"problem", request.problem},
                {"seed", request.seed},
                {"noise", request.noise},
                {"timing_seconds", request.timing_seconds},
                {"total_seconds", request.total_seconds},
                {"caches", to_string(request.caches)},
                {"verification", request.verification},
                {"baseline", request.baseline},
                {"counters", request.counters},
                {"every_counter", request.every_counter},
                {"timing", request.timing},
                {"candidates", candidates}}
        .dump();
}

Measure decode_measure(const json& message) {
    Measure request{.family = message.at("family"),
                    .problem = message.at("problem"),
                    .seed = message.at("seed"),
                    .noise = message.at("noise"),
                    .timing_seconds = message.at("timing_seconds"),
                    .total_seconds = message.at("total_seconds"),
                    .caches = caches_named(message.at("caches").get<std::string>()).value(),
                    .verification = message.at("verification"),
                    .baseline = message.at("baseline"),
                    .counters = message.at("counters"),
                    .every_counter = message.at("every_counter"),
                    .timing = message.at("timing"),
                    .candidates = {}};
    for (const json& candidate : message.at("candidates"))
        request.candidates.push_back({candidate.at("variant"), candidate.at("configuration")});
    return request;
}

std::string encode(const Event& event) {
    return std::visit([](const auto& e) { return body(e).dump(-1, ' ', false, json::error_handler_t::replace); },
                      event);
}

Event decode_event(const std::string& line) {
    const json message = json::parse(line);
    const std::string kind = message.at("event");
    if (kind == "hello")
        return Hello{with_uuid(decode_device(message.at("device")), message.at("uuid")),
                     message.at("driver"),
                     message.at("runtime"),
                     message.at("build"),
                     {message.at("free_device"), message.at("free_host")},
                     message.at("gpus")};
    if (kind == "no_device") return NoDevice{message.at("reason"), message.at("gpus")};
    if (kind == "ceilings") return CeilingsDone{decode_device(message.at("device"))};
    if (kind == "copies")
        return CopiesMeasured{{message.at("pageable_to_device"), message.at("pageable_to_host"),
                               message.at("pinned_to_device"), message.at("pinned_to_host")}};
    if (kind == "verified") return Verified{message.at("candidate"), message.at("how")};
    if (kind == "failed")
        return Failed{message.at("candidate"), parse_status(message.at("status").get<std::string>()).value(),
                      message.at("reason")};
    if (kind == "timed")
        return Timed{message.at("candidate"), message.at("samples_ns").get<std::vector<double>>(),
                     message.at("resolution_ns")};
    if (kind == "counted")
        return Counted{message.at("candidate"),
                       message.at("counters").get<std::vector<std::pair<std::string, double>>>(), message.at("reason")};
    if (kind == "counters_checked") return CountersChecked{message.at("reason")};
    if (kind == "done")
        return Done{message.at("timing_seconds"), message.at("verification_seconds"), message.at("counting_seconds"),
                    message.at("conditions").get<std::vector<std::pair<std::string, double>>>()};
    throw BadData("the worker sent an unknown event");
}

}  // namespace espalier::bench::protocol
