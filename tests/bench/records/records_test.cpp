// Records and the text in them, with input that somebody else may have written.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/base/text/printable.hpp"
#include "harness/bench/records/codec.hpp"
#include "harness/bench/records/roofline.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"
#include "tests/support/record_samples.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench {
namespace {

nlohmann::json plain(const nlohmann::ordered_json& value) { return nlohmann::json::parse(value.dump()); }

template <class Change>
std::string refusal(Change change) {
    nlohmann::json body = plain(encode(sample_record()));
    change(body);
    return message_of<BadData>([&] { static_cast<void>(decode_case(body)); });
}

TEST(Json, HostileTextIsRefused) {
    const auto refused = [](const std::string& text) {
        return message_of<BadData>([&] { static_cast<void>(parse_checked(text)); });
    };
    expect_holds(refused(std::string(1'000'000, '[')), {"deeper"});
    expect_holds(refused(R"({"a":1,"b":{"c":1,"c":2}})"), {"twice"});
    expect_holds(refused("[1e999]"), {"double"});
    expect_holds(refused("[\"\xC3\x28\"]"), {"UTF-8"});
    expect_holds(refused("[NaN]"), {"not JSON"});
    expect_holds(refused("[1] [2]"), {"not JSON"});
    expect_holds(refused(""), {"not JSON"});
    expect_holds(refused("[" + std::string(17 << 20, ' ') + "]"), {"longer"});
    EXPECT_EQ(parse_checked(R"({"a":{"x":1},"b":{"x":1}})").size(), 2U);
}

TEST(Codec, CaseAndDeviceRoundTrip) {
    const CaseRecord record = sample_record();
    EXPECT_EQ(encode(decode_case(plain(encode(record)))), encode(record));
    DeviceInfo device = sample_device();
    EXPECT_EQ(encode(decode_device(plain(encode(device)))), encode(device));
    EXPECT_FALSE(encode(device).contains("amx_bf16")) << "files of devices without it stay as they are";
    device.amx_bf16 = true;
    EXPECT_TRUE(decode_device(plain(encode(device))).amx_bf16);
}

TEST(Codec, ConditionsAreSortedAndUnknownOnesKept) {
    CaseRecord record = sample_record();
    record.conditions = {.foreign_cpu_share = 0.5, .clock_share = 1, .others = {{"zeal", 3}, {"a_new_one", 4}}};
    const auto conditions = encode(record).at("conditions");
    EXPECT_EQ(conditions.dump(), R"({"a_new_one":4.0,"clock_share":1.0,"foreign_cpu_share":0.5,"zeal":3.0})");
    EXPECT_EQ(encode(decode_case(plain(encode(record)))).at("conditions"), conditions);
}

TEST(Codec, EveryConditionHasAName) {
    nlohmann::json body = plain(encode(sample_record()));
    const std::vector<std::string> names{
        "clock_share",     "counting_seconds",   "disturbed_rounds", "disturbed_share", "foreign_cpu_share",
        "gpu_ordinal",     "host_foreign_share", "host_steal_share", "problem_seconds", "processors",
        "repeated_rounds", "resolution_ns",      "samples_not_kept", "sm_clock_mhz",    "steal_cpu_share",
        "temperature_c",   "throttle_reasons",   "transfer_ns"};
    body["conditions"] = nlohmann::json::object();
    for (std::size_t i = 0; i < names.size(); ++i) body["conditions"][names[i]] = i;
    const CaseRecord record = decode_case(body);
    EXPECT_EQ(record.conditions.others, NamedValues{}) << "all of these are in committed records";
    EXPECT_EQ(record.conditions.processors, 9);
    EXPECT_EQ(record.conditions.transfer_ns, 17);
    EXPECT_EQ(plain(encode(record)).at("conditions"), body["conditions"]);
}

TEST(Codec, EveryMemberIsNeededAndChecked) {
    const nlohmann::json body = plain(encode(sample_record()));
    for (const auto& [name, value] : body.items()) {
        expect_holds(refusal([&name = name](auto& b) { b.erase(name); }), {name.c_str(), "missing"});
        EXPECT_NE(refusal([&name = name](auto& b) { b[name] = nullptr; }), "") << name;
    }
    expect_holds(refusal([](auto& b) { b["extra"] = 1; }), {"does not know"});
    expect_holds(refusal([](auto& b) { b["status"] = "fine"; }), {"status"});
    expect_holds(refusal([](auto& b) { b["status"] = "crashed"; }), {"reason"});
    expect_holds(refusal([](auto& b) { b["variant"] = "a\"; system(\"x\"); //"; }), {"variant"});
    expect_holds(refusal([](auto& b) { b["provenance"]["device_key"] = "../../etc"; }), {"device_key"});
    for (const char* key : {"-x", ".x", "", "schema", "published", "journal", "local"})
        expect_holds(refusal([&](auto& b) { b["provenance"]["device_key"] = key; }), {"device_key"});
    for (const char* family : {"peers", "", "-x", "_x", "2d"})
        expect_holds(refusal([&](auto& b) { b["family"] = family; }), {"family"});
    expect_holds(refusal([](auto& b) { b["samples_ns"] = {"1"}; }), {"samples_ns"});
    expect_holds(refusal([](auto& b) { b["bytes"] = -1; }), {"bytes"});
    expect_holds(refusal([](auto& b) { b["features"][0]["value"] = "1"; }), {"feature"});
    expect_holds(refusal([](auto& b) { b["provenance"]["cache"] = "tepid"; }), {"cache"});
}

TEST(Codec, StagesAreLeftOutWhereThereAreNone) {
    CaseRecord record = sample_record();
    const std::string without = encode(record).dump();
    EXPECT_EQ(without.find("stages"), std::string::npos) << "committed records keep their bytes";
    record.stages = {"distance/register_tile", "smallest_k/warp_queues"};
    const nlohmann::json body = plain(encode(record));
    EXPECT_EQ(decode_case(body).stages, record.stages);
    EXPECT_EQ(encode(decode_case(body)).dump(), encode(record).dump());
}

TEST(Codec, StagesAreVariants) {
    for (const nlohmann::json& stages :
         {nlohmann::json::array(), nlohmann::json{"global"}, nlohmann::json{"/global"}, nlohmann::json{"distance/"},
          nlohmann::json{"distance/a b"}, nlohmann::json{"a/b/c"}, nlohmann::json{1},
          nlohmann::json(std::vector<std::string>(17, "distance/global"))})
        expect_holds(refusal([&](auto& b) { b["stages"] = stages; }), {"stages"});
}

TEST(Codec, DeviceIntegersNeitherWrapNorRound) {
    const auto refused = [](const char* name, const nlohmann::json& value) {
        nlohmann::json body = plain(encode(sample_device()));
        body[name] = value;
        return message_of<BadData>([&] { static_cast<void>(decode_device(body)); });
    };
    expect_holds(refused("sm", 90.5), {"sm", "whole"});
    expect_holds(refused("threads", 4294967298), {"threads", "range"});
    expect_holds(refused("memory_bytes", 18446744073709551615U), {"memory_bytes"});
    expect_holds(refused("memory_bytes", -1), {"memory_bytes", "range"});
}

TEST(Codec, KeysThatAreOtherFoldersAreNoDevices) {
    for (const char* key : {"-x", "--device", "..", "", "schema", "published", "journal", "local"}) {
        nlohmann::json body = plain(encode(sample_device()));
        body["key"] = key;
        expect_holds(message_of<BadData>([&] { static_cast<void>(decode_device(body)); }), {"key"});
    }
}

TEST(BadData, QuotesNothingThatActs) {
    EXPECT_STREQ(BadData("a\x1b[31m \xc2\x9b \xe2\x80\xae\n\x9b").what(), "a\\x1b[31m \\u009b \\u202e\n\\x9b");
}

TEST(Codec, WhatIsNotANumberCannotBeRecorded) {
    CaseRecord record = sample_record();
    record.time_ns = std::nan("");
    EXPECT_THROW(static_cast<void>(encode(record)), BadData);
}

TEST(Printable, MakesTextHarmless) {
    EXPECT_EQ(printable("a\x1b[31mb\nc"), "a\\x1b[31mb c");
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b") << "a message must not end there";
    EXPECT_EQ(printable("\xC3\xA9\xFF\xC2\x9B"), "\xC3\xA9\\xff\\u009b") << "what is valid stays";
    EXPECT_EQ(printable("\xE2\x80\xAEgpj.exe"), "\\u202egpj.exe") << "writing from right to left";
    EXPECT_EQ(printable("\xF3\xA0\x81\xA1\xE2\x80\xA8"), "\\U000e0061\\u2028") << "tags and line separators";
    EXPECT_EQ(printable("\xF0\x9F\x8C\xB3 \xE6\xA0\x91 \xD7\xA2\xD7\xA5"),
              "\xF0\x9F\x8C\xB3 \xE6\xA0\x91 \xD7\xA2\xD7\xA5");
    for (const char* invalid : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x80", "\x80"})
        EXPECT_EQ(printable(invalid).find_first_not_of("\\x0123456789abcdef"), std::string::npos) << "no UTF-8";
}

TEST(Printable, CutsBetweenCharacters) {
    EXPECT_EQ(printable(std::string(100, 'x'), 20), std::string(17, 'x') + "...");
    EXPECT_EQ(printable(std::string(20, 'x'), 20), std::string(20, 'x'));
    EXPECT_EQ(printable("\x1b\x1b\x1b", 10), "\\x1b...");
    EXPECT_EQ(printable("\xC3\xA9\xC3\xA9\xC3\xA9", 5), "\xC3\xA9...");
    EXPECT_EQ(printable_lines("a\x1b\nb\n"), "a\\x1b\nb\n");
}

TEST(Plausibility, ImpossibleTimesAreFound) {
    const DeviceInfo device = sample_device();
    EXPECT_FALSE(implausible(sample_record(), device));
    const auto with = [](auto change) {
        CaseRecord record = sample_record();
        change(record);
        return record;
    };
    for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        EXPECT_TRUE(implausible(with([&](auto& r) { r.time_ns = bad; }), device)) << bad;
        EXPECT_TRUE(implausible(with([&](auto& r) { r.samples_ns[1] = bad; }), device)) << bad;
    }
    EXPECT_TRUE(implausible(with([](auto& r) { r.time_lo_ns = r.time_ns + 1; }), device));
    // 1 GB in 1.2 us is a thousand times what this device moves.
    EXPECT_TRUE(implausible(with([](auto& r) { r.bytes = 1e9; }), device));
    EXPECT_TRUE(implausible(with([](auto& r) { r.floor_ns = 1e6; }), device));
    // Warm and small: bound by the caches' ten times higher rate.
    const auto warm = with([](auto& r) { r.bytes = 1e5; });
    const auto cold = with([](auto& r) { r.bytes = 1e5, r.provenance.cache = "cold"; });
    EXPECT_FALSE(implausible(warm, device));
    EXPECT_TRUE(implausible(cold, device));
}

}  // namespace
}  // namespace espalier::bench
