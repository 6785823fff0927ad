#include "harness/bench/sweep/worker/protocol.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/bench/records/codec.hpp"
#include "kernels/json/bad_data.hpp"

// A device's record does not say which one of its kind it is.
namespace espalier {

static void to_json(nlohmann::json& message, const DeviceInfo& device) {
    message = {{"recorded", nlohmann::json(bench::encode(device))}, {"uuid", device.uuid}};
}
static void from_json(const nlohmann::json& message, DeviceInfo& device) {
    device = bench::decode_device(message.at("recorded"));
    message.at("uuid").get_to(device.uuid);
}

}  // namespace espalier

namespace espalier::bench {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FreeMemory, device, host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CopyRates, pageable_to_device, pageable_to_host, pinned_to_device, pinned_to_host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeSpent, timing, verification, counting, ceilings, lost, waiting)

static void to_json(nlohmann::json& message, const Conditions& conditions) { message = named_values(conditions); }
static void from_json(const nlohmann::json& message, Conditions& conditions) {
    conditions = conditions_of(message.get<NamedValues>());
}

}  // namespace espalier::bench

namespace espalier::bench::protocol {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Measure::Candidate, variant, configuration)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Measure, family, problem, seed, noise, timing_seconds, total_seconds, caches,
                                   verification, baseline, counters, every_counter, timing, candidates)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hello, device, driver, runtime, build, free, gpus)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NoDevice, reason, gpus)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CeilingsDone, device)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CopiesMeasured, rates)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Verified, candidate, how, stages)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Failed, candidate, status, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Timed, candidate, samples_ns, resolution_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Counted, candidate, counters, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CountersChecked, reason, passes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Done, spent, conditions)

namespace {

using nlohmann::json;

/// Which of its kinds a message is, and its members.
template <class... Kinds>
std::string encode_kind(const std::variant<Kinds...>& message) {
    const json body = std::visit([](const auto& kind) { return json(kind); }, message);
    return json{{"kind", message.index()}, {"body", body}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <class Message, std::size_t... indices>
Message decode_kind(const json& message, std::index_sequence<indices...>) {
    Message decoded;
    const std::size_t kind = message.at("kind");
    const json& body = message.at("body");
    if (!((kind == indices && (decoded = body.get<std::variant_alternative_t<indices, Message>>(), true)) || ...))
        throw BadData("a message between sweep and worker is of no known kind");
    return decoded;
}

template <class Message>
Message decoded(const std::string& line) {
    return decode_kind<Message>(json::parse(line), std::make_index_sequence<std::variant_size_v<Message>>());
}

}  // namespace

std::string encode(const Request& request) { return encode_kind(request); }
std::string encode(const Event& event) { return encode_kind(event); }
Request decode_request(const std::string& line) { return decoded<Request>(line); }
Event decode_event(const std::string& line) { return decoded<Event>(line); }

}  // namespace espalier::bench::protocol
