#include "harness/bench/records/codec.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "harness/base/statistics.hpp"
#include "harness/base/text/printable.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"
#include "kernels/json/names.hpp"

namespace espalier::bench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;
constexpr std::size_t kLongestReason = 4096;
constexpr std::size_t kMostSamples = 1'000'000;
constexpr std::size_t kMostPairs = 256;
constexpr std::size_t kMostStages = 16;
constexpr double kLongestTime = 1e18;  // ns: 31 years

constexpr std::string_view kKeyCharacters = "_=;.-";  // beside letters and digits
constexpr std::string_view kSlugCharacters = "-_.";
constexpr std::string_view kNameCharacters = "_.";  // CUPTI metrics, features
constexpr std::array<std::string_view, 6> kVerifications{"",        "oracle", "twin", "twin+baseline", "twin+fastest",
                                                         "baseline"};

double checked(double value, const char* name) {
    if (!std::isfinite(value)) throw BadData(std::string(name) + " is not finite and cannot be recorded");
    return value;
}

ordered_json encode_pairs(const NamedValues& pairs) {
    auto object = ordered_json::object();
    for (const auto& [name, value] : pairs) object[name] = checked(value, name.c_str());
    return object;
}

/// What nothing is decided by to more digits has no more: they would be noise, which nothing packs.
ordered_json encode_conditions(Conditions conditions) {
    for (Conditions::Value* value :
         {&conditions.clock_share, &conditions.problem_seconds, &conditions.counting_seconds, &conditions.transfer_ns})
        if (*value) *value = to_significant_digits(**value, 6);
    return encode_pairs(named_values(conditions));
}

/// The parser sorts members, so that pairs come back in alphabetical order unless `order` tells theirs.
NamedValues decode_pairs(Fields& fields, const char* member) {
    NamedValues pairs;
    for (const auto& [name, value] : fields.object(member, kMostPairs).items()) {
        for (const char c : name)
            if (!std::isalnum(static_cast<unsigned char>(c)) && kNameCharacters.find(c) == std::string_view::npos)
                fields.refuse(member, "has a member whose name has a character that no name has");
        if (name.size() > 200) fields.refuse(member, "has a member with an overlong name");
        pairs.emplace_back(name, finite(value, member));
    }
    return pairs;
}

/// "distance/register_tile"
bool is_stage(std::string_view text) {
    const auto is_name = [](std::string_view name) {
        return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        });
    };
    const auto slash = text.find('/');
    return slash != std::string_view::npos && is_name(text.substr(0, slash)) && is_name(text.substr(slash + 1));
}

ordered_json encode_features(const NamedValues& features) {
    auto list = ordered_json::array();  // the order is the family's and matters: no object
    for (const auto& [name, value] : features)
        list.push_back({{"name", name}, {"value", checked(value, name.c_str())}});
    return list;
}

std::vector<std::string> decode_stages(Fields& fields) {
    std::vector<std::string> stages;
    for (const json& item : fields.array("stages", kMostStages)) {
        const auto* const name = item.get_ptr<const json::string_t*>();
        if (!name || name->size() > 256 || !is_stage(*name)) fields.refuse("stages", "is not a list of family/variant");
        stages.push_back(*name);
    }
    if (stages.empty()) fields.refuse("stages", "is empty: it is left out then");
    return stages;
}

NamedValues decode_features(const json& list) {
    NamedValues features;
    for (const json& item : list) {
        Fields fields(item, "feature");
        auto name = fields.word("name");
        const double value = fields.number("value", -1e300, 1e300);
        fields.done();
        features.emplace_back(std::move(name), value);
    }
    return features;
}

ordered_json encode(const Provenance& provenance) {
    return {{"device_key", provenance.device_key}, {"driver", provenance.driver},       {"runtime", provenance.runtime},
            {"build", provenance.build},           {"source_id", provenance.source_id}, {"cache", provenance.cache},
            {"session", provenance.session}};
}

Provenance decode_provenance(const json& body) {
    Fields fields(body, "provenance");
    Provenance provenance;
    provenance.device_key = fields.word("device_key", kSlugCharacters);
    provenance.driver = fields.text("driver");
    provenance.runtime = fields.text("runtime");
    provenance.build = fields.text("build", 512);
    provenance.source_id = fields.word("source_id");
    provenance.cache = fields.word("cache");
    provenance.session = fields.text("session", 64);
    fields.done();
    if (const char* why = wrong_device_key(provenance.device_key)) fields.refuse("device_key", why);
    if (provenance.cache != "cold" && provenance.cache != "clean" && provenance.cache != "warm")
        fields.refuse("cache", "is not \"cold\", \"clean\" or \"warm\"");
    return provenance;
}

/// "size=10;seed=-1": every part has a name, so that no key can pass for a number or a formula.
bool is_key(std::string_view text) {
    do {
        const auto part = text.substr(0, text.find(';'));
        const auto equals = part.find('=');
        if (equals == 0 || equals == std::string_view::npos || !(part[0] >= 'a' && part[0] <= 'z')) return false;
        text.remove_prefix(std::min(text.size(), part.size() + 1));
    } while (!text.empty());
    return true;
}

void check_consistency(const CaseRecord& record, const Fields& fields) {
    if (!is_key(record.problem)) fields.refuse("problem", "is not name=value;name=value");
    if (record.configuration != "default" && !is_key(record.configuration))
        fields.refuse("configuration", "is neither \"default\" nor name=value;name=value");
    if (const char* why = wrong_family_name(record.family)) fields.refuse("family", why);
    if (record.variant.empty()) fields.refuse("variant", "is empty");
    const bool ok = record.status == Status::ok;
    if (ok != record.reason.empty())
        fields.refuse("reason", ok ? "is given for a case that is ok" : "is empty for a case that is not ok");
    if (std::ranges::count(kVerifications, record.verification) == 0)
        fields.refuse("verification", "is none of the known ways");
    if (ok && record.samples_ns.empty() && !record.conditions.samples_not_kept)
        fields.refuse("samples_ns", "is empty for a case that is ok");
}

}  // namespace

ordered_json encode(const CaseRecord& record) {
    auto samples = ordered_json::array();
    for (const double sample : record.samples_ns) samples.push_back(checked(sample, "samples_ns"));
    ordered_json body{{"family", record.family},
                      {"variant", record.variant},
                      {"role", record.role},
                      {"problem", record.problem},
                      {"configuration", record.configuration},
                      {"status", to_string(record.status)},
                      {"reason", record.reason},
                      {"verification", record.verification},
                      {"samples_ns", std::move(samples)},
                      {"time_ns", checked(record.time_ns, "time_ns")},
                      {"time_lo_ns", checked(record.time_lo_ns, "time_lo_ns")},
                      {"time_hi_ns", checked(record.time_hi_ns, "time_hi_ns")},
                      {"bytes", checked(record.bytes, "bytes")},
                      {"ops", checked(record.ops, "ops")},
                      {"floor_ns", checked(record.floor_ns, "floor_ns")},
                      {"features", encode_features(record.features)},
                      {"conditions", encode_conditions(record.conditions)},
                      {"counters", encode_pairs(record.counters)},
                      {"counters_reason", record.counters_reason},
                      {"provenance", encode(record.provenance)}};
    if (!record.stages.empty()) body["stages"] = record.stages;  // left out, earlier records keep their bytes
    return body;
}

CaseRecord decode_case(const json& body) {
    Fields fields(body, "case");
    CaseRecord record;
    record.family = fields.word("family");
    record.variant = fields.word("variant");
    record.role = fields.word("role");
    record.problem = fields.word("problem", kKeyCharacters, 1024);
    record.configuration = fields.word("configuration", kKeyCharacters, 1024);
    const auto status = parse_status(fields.word("status"));
    if (!status) fields.refuse("status", "is none of the known ones");
    record.status = *status;
    record.reason = fields.text("reason", kLongestReason);
    record.verification = fields.word("verification", "_+");
    for (const json& sample : fields.array("samples_ns", kMostSamples))
        record.samples_ns.push_back(finite(sample, "case: \"samples_ns\""));
    record.time_ns = fields.number("time_ns", -kLongestTime, kLongestTime);
    record.time_lo_ns = fields.number("time_lo_ns", -kLongestTime, kLongestTime);
    record.time_hi_ns = fields.number("time_hi_ns", -kLongestTime, kLongestTime);
    record.bytes = fields.amount("bytes");
    record.ops = fields.amount("ops");
    record.floor_ns = fields.number("floor_ns", 0, kLongestTime);
    record.features = decode_features(fields.array("features", kMostPairs));
    record.conditions = conditions_of(decode_pairs(fields, "conditions"));
    record.counters = decode_pairs(fields, "counters");
    record.counters_reason = fields.text("counters_reason", kLongestReason);
    record.provenance = decode_provenance(fields.object("provenance", 16));
    if (fields.has("stages")) record.stages = decode_stages(fields);
    fields.done();
    check_consistency(record, fields);
    return record;
}

ordered_json encode(const DeviceInfo& device) {
    ordered_json body{{"kind", device.kind == DeviceKind::cpu ? "cpu" : "cuda"},
                      {"key", device.key},
                      {"name", device.name},
                      {"emulated", device.emulated},
                      {"memory_bytes", device.memory_bytes},
                      {"l2_bytes", device.l2_bytes},
                      {"bytes_per_second", device.bytes_per_second},
                      {"cached_bytes_per_second", device.cached_bytes_per_second},
                      {"fp32_per_second", device.fp32_per_second},
                      {"int_per_second", device.int_per_second},
                      {"threads", device.threads},
                      {"avx2", device.avx2},
                      {"fma", device.fma},
                      {"avx512", device.avx512},
                      {"avx512_vnni", device.avx512_vnni},
                      {"neon", device.neon},
                      {"microarchitecture", device.microarchitecture},
                      {"nominal_bytes_per_second", device.nominal_bytes_per_second},
                      {"sm", device.sm},
                      {"sm_count", device.sm_count},
                      {"clock_khz", device.clock_khz},
                      {"max_threads_per_sm", device.max_threads_per_sm},
                      {"registers_per_sm", device.registers_per_sm},
                      {"shared_per_block", device.shared_per_block},
                      {"shared_per_block_optin", device.shared_per_block_optin},
                      {"shared_per_sm", device.shared_per_sm},
                      {"constant_bytes", device.constant_bytes},
                      {"texture_1d_linear_floats", device.texture_1d_linear_floats},
                      {"texture_2d_width", device.texture_2d_width},
                      {"texture_2d_height", device.texture_2d_height},
                      {"texture_2d_pitch", device.texture_2d_pitch},
                      {"texture_pitch_alignment", device.texture_pitch_alignment}};
    if (device.amx_bf16) body["amx_bf16"] = true;  // which came later: files of devices without it stay as they are
    return body;
}

DeviceInfo decode_device(const json& body) {
    Fields fields(body, "device");
    const auto bytes = [&](const char* name) { return static_cast<std::size_t>(fields.whole(name)); };
    const auto count = [&](const char* name) { return static_cast<int>(fields.whole(name, 0, INT32_MAX)); };
    DeviceInfo device;
    const auto kind = fields.word("kind");
    if (kind != "cpu" && kind != "cuda") fields.refuse("kind", "is neither \"cpu\" nor \"cuda\"");
    device.kind = kind == "cpu" ? DeviceKind::cpu : DeviceKind::cuda;
    device.key = fields.word("key", kSlugCharacters);
    if (const char* why = wrong_device_key(device.key)) fields.refuse("key", why);
    device.name = fields.text("name");
    device.emulated = fields.flag("emulated");
    device.memory_bytes = bytes("memory_bytes");
    device.l2_bytes = bytes("l2_bytes");
    device.bytes_per_second = fields.amount("bytes_per_second");
    device.cached_bytes_per_second = fields.amount("cached_bytes_per_second");
    device.fp32_per_second = fields.amount("fp32_per_second");
    device.int_per_second = fields.amount("int_per_second");
    device.threads = static_cast<int>(fields.whole("threads", 1, INT32_MAX));
    device.avx2 = fields.flag("avx2");
    device.fma = fields.flag("fma");
    device.avx512 = fields.flag("avx512");
    device.avx512_vnni = fields.flag("avx512_vnni");
    device.amx_bf16 = fields.has("amx_bf16") && fields.flag("amx_bf16");
    device.neon = fields.flag("neon");
    device.microarchitecture = fields.word("microarchitecture", "-");
    device.nominal_bytes_per_second = fields.amount("nominal_bytes_per_second");
    device.sm = count("sm");
    device.sm_count = count("sm_count");
    device.clock_khz = count("clock_khz");
    device.max_threads_per_sm = count("max_threads_per_sm");
    device.registers_per_sm = count("registers_per_sm");
    device.shared_per_block = bytes("shared_per_block");
    device.shared_per_block_optin = bytes("shared_per_block_optin");
    device.shared_per_sm = bytes("shared_per_sm");
    device.constant_bytes = bytes("constant_bytes");
    device.texture_1d_linear_floats = fields.whole("texture_1d_linear_floats");
    device.texture_2d_width = fields.whole("texture_2d_width");
    device.texture_2d_height = fields.whole("texture_2d_height");
    device.texture_2d_pitch = fields.whole("texture_2d_pitch");
    device.texture_pitch_alignment = count("texture_pitch_alignment");
    fields.done();
    return device;
}

namespace {

constexpr std::string_view kCrcMember = ",\"crc32\":\"";
constexpr std::size_t kTailLength = kCrcMember.size() + 8 + 2;  // ,"crc32":"01234567"}

std::string tail_of(std::string_view covered) {
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(covered.data()), covered.size());
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08lx", crc & 0xFFFFFFFFUL);
    return std::string(kCrcMember) + digits + "\"}";
}

/// "espalier.case/1" -> "case"; throws for anything that this version does not read.
std::string kind_of(const std::string& schema) {
    constexpr std::string_view prefix = "espalier.";
    const auto slash = schema.rfind('/');
    if (!schema.starts_with(prefix) || slash == std::string::npos || slash + 1 == schema.size() ||
        schema.size() > slash + 7 || schema.find_first_not_of("0123456789", slash + 1) != std::string::npos)
        throw BadData("not a record of espalier");
    const int version = std::stoi(schema.substr(slash + 1));
    const auto kind = schema.substr(prefix.size(), slash - prefix.size());
    if (version > kSchemaVersion)
        throw NewerSchema("written by a newer espalier (schema " + printable(schema, 60) + ", this one reads up to " +
                          std::to_string(kSchemaVersion) + "): update espalier");
    if (version < 1) throw BadData("not a schema of espalier");
    return kind;
}

/// A line but for how it ends.
std::string open_line(std::string_view kind, const ordered_json& body) {
    const std::string name(kind);
    return "{\"schema\":\"espalier." + name + "/" + std::to_string(kSchemaVersion) + "\",\"" + name +
           "\":" + body.dump();
}

}  // namespace

std::string seal(std::string_view kind, const ordered_json& body) {
    const std::string line = open_line(kind, body);
    return line + tail_of(line);
}

std::string unsealed(std::string_view kind, const ordered_json& body) { return open_line(kind, body) + '}'; }

const char* broken_seal(std::string_view line, Seals seals) {
    if (line.size() <= kTailLength) return "incomplete record";
    const auto covered = line.substr(0, line.size() - kTailLength);
    const auto tail = line.substr(covered.size());
    if (!tail.starts_with(kCrcMember) && seals == Seals::whole_file) return nullptr;
    return tail == tail_of(covered) ? nullptr : "the checksum does not match";
}

Sealed unseal(std::string_view line, Seals seals) {
    if (const char* why = broken_seal(line, seals)) throw BadData(why);
    json whole = parse_checked(line);
    Fields fields(whole, "record");
    auto kind = kind_of(fields.text("schema"));
    Sealed sealed{kind, fields.object(kind.c_str(), 1000)};
    if (seals == Seals::each_line || fields.has("crc32")) static_cast<void>(fields.text("crc32", 8));
    fields.done();
    return sealed;
}

}  // namespace espalier::bench
