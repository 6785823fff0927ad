// Records, results files and merging, with the input that somebody else may have written.

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include "harness/base/text/printable.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/records/codec.hpp"
#include "harness/bench/records/inspect.hpp"
#include "harness/bench/records/merge.hpp"
#include "harness/bench/records/packing.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/records/roofline.hpp"
#include "harness/bench/records/stale.hpp"
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
    EXPECT_EQ(encode(decode_device(plain(encode(sample_device())))), encode(sample_device()));
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
        expect_holds(refusal([&](auto& b) { b.erase(name); }), {name.c_str(), "missing"});
        EXPECT_NE(refusal([&](auto& b) { b[name] = nullptr; }), "") << name;
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

/// A journal with these records, after a device and a plan for them.
std::string journal(const TemporaryFolder& folder, const std::string& name, const std::vector<CaseRecord>& records,
                    DeviceInfo device = sample_device()) {
    const std::string path = folder / name;
    JournalWriter writer(path);
    writer.append(device);
    writer.append(records);
    return path;
}

TEST(Merge, TheLatestSessionCountsButNotAnUnmeasuredOne) {
    const TemporaryFolder folder;
    CaseRecord early = sample_record(), late = sample_record(), unmeasured = sample_record();
    late.provenance.session = "20260102T000000Z-00000000";
    late.time_ns = late.time_lo_ns = 1000;
    unmeasured.provenance.session = "20260103T000000Z-00000000";
    unmeasured.status = Status::not_measured;
    unmeasured.reason = "time budget";
    const auto path = journal(folder, "a.jsonl", {late, unmeasured, early});
    const auto reports = merge_journals({path}, folder / "results", {});
    ASSERT_EQ(reports.size(), 1U);
    const auto results = load_results(folder / "results/cpu-test-2t");
    ASSERT_EQ(results.cases.size(), 1U);
    EXPECT_EQ(results.cases[0].time_ns, 1000);
}

/// A journal of four cases, of which some lines are cut or changed.
std::string damaged_journal(const TemporaryFolder& folder,
                            const std::function<void(std::size_t, std::string&)>& damage) {
    const auto path =
        journal(folder, "a.jsonl", {sample_record(1), sample_record(2), sample_record(3), sample_record(4)});
    std::istringstream lines(read_bytes(path));
    std::string all, line;
    for (std::size_t number = 0; std::getline(lines, line); ++number) {
        damage(number, line);
        all += line + '\n';
    }
    return folder.file("a.jsonl", all);
}

TEST(Merge, DamageIsToldAndTheRestMerged) {
    const std::pair<const char*, std::function<void(std::size_t, std::string&)>> kinds[] = {
        {"changed",
         [](std::size_t i, std::string& line) {
             if (i == 2) line[line.size() / 2] ^= 1;
         }},
        {"foreign",
         [](std::size_t i, std::string& line) {
             if (i == 2) line = "x";
         }},
        {"cut",
         [](std::size_t i, std::string& line) {
             if (i > 1) line.resize(line.size() / 2);
         }},
    };
    for (const auto& [name, damage] : kinds) {
        SCOPED_TRACE(name);
        const TemporaryFolder folder;
        const auto path = damaged_journal(folder, damage);
        const auto report = merge_journals({path}, folder / "results", {}).at(0);
        EXPECT_EQ(report.damaged.size(), 1U);
        EXPECT_EQ(report.cases, std::string(name) == "cut" ? 1U : 3U);
        const auto before = read_bytes(folder / "results/cpu-test-2t/histogram.csv");
        expect_holds(message_of<BadData>([&] { merge_journals({path}, folder / "results", {.replace = true}); }),
                     {"--replace"});
        EXPECT_EQ(read_bytes(folder / "results/cpu-test-2t/histogram.csv"), before);
    }
}

TEST(Merge, ATornLineIsNoDamage) {
    const TemporaryFolder folder;
    const auto path = damaged_journal(folder, [](std::size_t i, std::string& line) {
        if (i == 4) line.resize(line.size() / 2);
    });
    const auto report = merge_journals({path}, folder / "results", {}).at(0);
    EXPECT_TRUE(report.damaged.empty());
    EXPECT_EQ(report.warnings.size(), 1U);
    EXPECT_EQ(report.cases, 3U);
}

TEST(Merge, OnceWrongTheSameSourceStaysWrong) {
    const TemporaryFolder folder;
    CaseRecord wrong = sample_record(), later = sample_record();
    wrong.status = Status::wrong;
    wrong.reason = "value 3 is 4";
    later.provenance.session = "20260102T000000Z-00000000";
    const auto path = journal(folder, "a.jsonl", {wrong, later});
    EXPECT_EQ(merge_journals({path}, folder / "results", {}).at(0).kept_wrong, 1U);
    EXPECT_EQ(load_results(folder / "results/cpu-test-2t").cases.at(0).status, Status::wrong);
    later.provenance.source_id[0] = 'f';  // mended
    JournalWriter(path).append(std::vector{later});
    merge_journals({path}, folder / "results", {});
    EXPECT_EQ(load_results(folder / "results/cpu-test-2t").cases.at(0).status, Status::ok);
}

TEST(Merge, WhatIsTimedAgainKeepsTheCountersOfTheSameCode) {
    CaseRecord counted = sample_record(), later = sample_record();
    counted.counters = {{"x", 7}};
    later.counters.clear();
    later.provenance.session = "20260102T000000Z-00000000";
    for (const bool same_code : {true, false}) {
        if (!same_code) later.provenance.source_id[0] = 'f';
        const TemporaryFolder folder;
        merge_journals({journal(folder, "a.jsonl", {counted, later})}, folder / "results", {});
        const CaseRecord merged = load_results(folder / "results/cpu-test-2t").cases.at(0);
        EXPECT_EQ(merged.provenance.session, later.provenance.session);
        EXPECT_EQ(merged.counters, same_code ? counted.counters : later.counters);
        EXPECT_EQ(merged.counters_reason.find(counted.provenance.session) != std::string::npos, same_code);
    }
}

TEST(Merge, KeepsWhatTheResultsHave) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {sample_record(1)})}, folder / "results", {});
    const auto reports = merge_journals({journal(folder, "b.jsonl", {sample_record(2)})}, folder / "results", {});
    EXPECT_EQ(reports.at(0).cases, 2U);
    EXPECT_EQ(reports.at(0).kept, 1U);
    const auto replaced =
        merge_journals({journal(folder, "c.jsonl", {sample_record(3)})}, folder / "results", {.replace = true});
    EXPECT_EQ(replaced.at(0).cases, 1U);
}

TEST(Merge, DevicesAreKeptApart) {
    const TemporaryFolder folder;
    CaseRecord other = sample_record();
    other.provenance.device_key = "cpu-other-4t";
    DeviceInfo other_device = sample_device();
    other_device.key = "cpu-other-4t";
    const auto a = journal(folder, "a.jsonl", {sample_record()});
    const auto b = journal(folder, "b.jsonl", {other}, other_device);
    EXPECT_EQ(merge_journals({a, b}, folder / "results", {}).size(), 2U);
    EXPECT_EQ(load_results(folder / "results/cpu-other-4t").cases.size(), 1U);
    EXPECT_EQ(load_results(folder / "results/cpu-test-2t").cases.size(), 1U);
}

TEST(Merge, DifferentMachinesDriversAndBuildsAreNotPooled) {
    const TemporaryFolder folder;
    const auto pooled = [&](CaseRecord second, const MergeOptions& options, DeviceInfo device = sample_device()) {
        std::filesystem::remove_all(folder / "results");
        std::filesystem::remove_all(folder / "journals");
        std::filesystem::create_directory(folder / "journals");
        journal(folder, "journals/a.jsonl", {sample_record(1)});
        journal(folder, "journals/b.jsonl", {second}, device);
        return merge_journals({folder / "journals"}, folder / "results", options);
    };
    CaseRecord driver = sample_record(2), build = sample_record(2);
    driver.provenance.driver = "Linux 6.2";
    build.provenance.build = "espalier 0.1.0, Debug";
    DeviceInfo machine = sample_device();
    machine.name = "Another processor";
    expect_holds(message_of<BadData>([&] { pooled(driver, {}); }), {"Linux 6.1", "Linux 6.2", "--allow drivers"});
    expect_holds(message_of<BadData>([&] { pooled(build, {}); }), {"Debug", "--allow builds"});
    expect_holds(message_of<BadData>([&] { pooled(sample_record(2), {}, machine); }),
                 {"Test processor", "Another processor"});
    EXPECT_EQ(pooled(driver, {.allow_drivers = true}).at(0).cases, 2U);
    EXPECT_EQ(pooled(build, {.allow_builds = true}).at(0).cases, 2U);
}

TEST(Merge, AnotherBuildSupersedesWhatTheResultsHold) {
    const TemporaryFolder folder;
    const std::string before = journal(folder, "before.jsonl", {sample_record(0), sample_record(1)});
    merge_journals({before}, folder / "results", {});
    CaseRecord newer = sample_record(1);
    newer.provenance.build = "espalier 0.2.0, Release";
    newer.provenance.session = "29991231T000000Z-00000000";
    const std::string after = journal(folder, "after.jsonl", {newer});
    expect_holds(message_of<BadData>([&] { merge_journals({after}, folder / "results", {}); }), {"--supersede"});
    const auto report = merge_journals({after}, folder / "results", {.supersede = true}).at(0);
    EXPECT_EQ(report.superseded, 2U);
    EXPECT_EQ(report.kept, 0U);
    const auto cases = load_results(folder / "results/cpu-test-2t").cases;
    ASSERT_EQ(cases.size(), 1U);
    EXPECT_EQ(cases[0].provenance.build, newer.provenance.build);
}

TEST(Merge, AnotherMachineOfTheKindSupersedesWhatTheResultsHold) {
    const TemporaryFolder folder;
    const std::string before = journal(folder, "before.jsonl", {sample_record(0), sample_record(1)});
    merge_journals({before}, folder / "results", {});
    DeviceInfo machine = sample_device();
    machine.name = "Test processor @ 2.10GHz";
    const std::string after = journal(folder, "after.jsonl", {sample_record(1)}, machine);
    expect_holds(message_of<BadData>([&] { merge_journals({after}, folder / "results", {}); }),
                 {"two different devices", "--supersede"});
    const auto report = merge_journals({after}, folder / "results", {.supersede = true}).at(0);
    EXPECT_EQ(report.superseded, 2U);
    const auto results = load_results(folder / "results/cpu-test-2t");
    EXPECT_EQ(results.device.name, machine.name);
    EXPECT_EQ(results.cases.size(), 1U);
}

TEST(Merge, AnImpossibleTimeLeavesItsCaseMissing) {
    const TemporaryFolder folder;
    CaseRecord impossible = sample_record(1);
    impossible.time_ns = 0;
    const std::string path = journal(folder, "a.jsonl", {sample_record(0), impossible});
    JournalWriter(path).append(sample_plan(1, 1, {{"histogram", impossible.problem, 1}}));
    const auto report = merge_journals({path}, folder / "results", {}).at(0);
    EXPECT_EQ(report.cases, 1U);
    ASSERT_EQ(report.warnings.size(), 1U);
    expect_holds(report.warnings[0], {"bytes=1001", "implausible", "0 ns"});
    ASSERT_EQ(report.missing.size(), 1U);
    EXPECT_EQ(report.missing[0].problem, impossible.problem);
}

TEST(Merge, ACaseTooShortToBeTimedKeepsItsRow) {
    for (const double sample : {-1.54, 0.0}) {
        const TemporaryFolder folder;
        CaseRecord brief = sample_record(1);
        brief.samples_ns = {120, sample, 150};
        const std::string path = journal(folder, "a.jsonl", {sample_record(0), brief});
        JournalWriter(path).append(sample_plan(1, 1, {{"histogram", brief.problem, 1}}));
        const auto report = merge_journals({path}, folder / "results", {}).at(0);
        EXPECT_EQ(report.cases, 2U);
        EXPECT_TRUE(report.missing.empty());
        ASSERT_EQ(report.warnings.size(), 1U);
        expect_holds(report.warnings[0], {"bytes=1001", "not measured", "too short"});
        const CaseRecord kept = load_results(folder / "results/cpu-test-2t").cases.at(1);
        EXPECT_EQ(kept.problem, brief.problem);
        EXPECT_EQ(kept.status, Status::not_measured);
        expect_holds(kept.reason, {"too short to be timed", "more was taken off than measured", "sweep again"});
        EXPECT_TRUE(kept.samples_ns.empty());
        // What is measured since counts.
        CaseRecord again = sample_record(1);
        again.provenance.session = "20260102T000000Z-00000000";
        JournalWriter(path).append(std::vector{again});
        merge_journals({path}, folder / "results", {});
        EXPECT_EQ(load_results(folder / "results/cpu-test-2t").cases.at(1).status, Status::ok);
    }
}

TEST(Merge, MissingShardsAndCasesAreHoles) {
    const TemporaryFolder folder;
    const std::string path = journal(folder, "a.jsonl", {sample_record(0)});
    JournalWriter(path).append(sample_plan(2, 3, {{"histogram", sample_record(0).problem, 2}}));
    const auto missing = merge_journals({path}, folder / "results", {}).at(0).missing;
    ASSERT_EQ(missing.size(), 3U);
    EXPECT_EQ(missing[0].description, "1 of 2 cases are missing");
    EXPECT_EQ(missing[1].description, "shard 1 of 3 is missing");
    EXPECT_EQ(missing[2].description, "shard 3 of 3 is missing");
    EXPECT_EQ(load_results(folder / "results/cpu-test-2t").missing.size(), 3U);
}

TEST(Merge, WhatOnlyAnEarlierSweepHadPlannedIsNoHoleIfTheLatestPlanCounts) {
    const TemporaryFolder folder;
    const CaseRecord there = sample_record(0), given_up = sample_record(1), missing = sample_record(2);
    const std::string path = journal(folder, "a.jsonl", {there});
    PlanRecord earlier = sample_plan(1, 1, {{"histogram", there.problem, 1}, {"histogram", given_up.problem, 1}});
    PlanRecord latest = sample_plan(1, 1, {{"histogram", there.problem, 1}, {"histogram", missing.problem, 1}});
    latest.session = "20260102T000000Z-00000000";
    latest.plan = "another";
    JournalWriter(path).append(latest);
    JournalWriter(path).append(earlier);
    EXPECT_EQ(merge_journals({path}, folder / "results", {}).at(0).missing.size(), 2U);
    const auto reported = merge_journals({path}, folder / "results", {.latest_plan = true}).at(0).missing;
    ASSERT_EQ(reported.size(), 1U);
    EXPECT_EQ(reported[0].problem, missing.problem);
}

TEST(Results, DamageIsRefusedWithFileAndLine) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {sample_record(1), sample_record(2)})}, folder / "results", {});
    const std::string file = folder / "results/cpu-test-2t/histogram.jsonl";
    const std::string whole = read_bytes(file);
    std::string changed = whole;
    const auto second = changed.find('\n') + 1;
    changed[changed.find("1200.25", second)] = '9';
    std::ofstream(file, std::ios::binary) << changed;
    expect_holds(message_of<BadData>([&] { static_cast<void>(load_results(folder / "results/cpu-test-2t")); }),
                 {"histogram.jsonl", "line 2", "checksum"});
    std::ofstream(file, std::ios::binary) << whole << whole.substr(second);
    expect_holds(message_of<BadData>([&] { static_cast<void>(load_cases(file)); }), {"line 3", "twice"});
}

TEST(Results, PackedFilesStayPackedAndHoldTheSame) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {sample_record(1), sample_record(2)})}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t";
    const DeviceResults plain = load_results(device);
    const std::size_t records = inspect(device).records;
    const std::string lines = read_bytes((device / "histogram.jsonl").string());
    std::filesystem::remove(device / "histogram.jsonl");
    std::ofstream(device / "histogram.jsonl.xz", std::ios::binary) << pack(lines);
    save_results(device, load_results(device));
    EXPECT_FALSE(std::filesystem::exists(device / "histogram.jsonl"));
    EXPECT_EQ(read_bytes((device / "histogram.jsonl.xz").string()), pack(lines));
    ASSERT_EQ(load_results(device).cases.size(), plain.cases.size());
    EXPECT_EQ(load_results(device).cases[1].samples_ns, plain.cases[1].samples_ns);
    EXPECT_EQ(inspect(device).records, records);
}

TEST(Results, FilesThatWerePackedWithGzipAreReadAndPackedAnew) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {sample_record(1), sample_record(2)})}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t";
    const std::string lines = read_bytes((device / "histogram.jsonl").string());
    std::filesystem::remove(device / "histogram.jsonl");
    const std::string before = (device / "histogram.jsonl.gz").string();
    const gzFile file = gzopen(before.c_str(), "wb");
    ASSERT_GT(gzwrite(file, lines.data(), static_cast<unsigned>(lines.size())), 0);
    gzclose(file);
    ASSERT_EQ(load_results(device).cases.size(), 2U);
    save_results(device, load_results(device));
    EXPECT_FALSE(std::filesystem::exists(before));
    EXPECT_EQ(read_bytes((device / "histogram.jsonl.xz").string()), pack(lines));
}

TEST(Results, PackedFileThatEndsTooSoonIsRefused) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {sample_record(1), sample_record(2)})}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t";
    const std::string packed = pack(read_bytes((device / "histogram.jsonl").string()));
    std::filesystem::remove(device / "histogram.jsonl");
    for (const std::size_t kept : {packed.size() - 1, packed.size() - 9, packed.size() / 2}) {
        std::ofstream(device / "histogram.jsonl.xz", std::ios::binary) << packed.substr(0, kept);
        expect_holds(message_of<BadData>([&] { static_cast<void>(load_results(device)); }), {"histogram.jsonl.xz"});
    }
}

TEST(Stale, IsWhatWasMeasuredOfOtherSource) {
    const Family& family = *find_family("dot");
    const VariantInfo& variant = family.variants()[family.baseline(DeviceKind::cpu)];
    CaseRecord record = sample_record();
    record.family = "dot", record.variant = variant.name, record.status = Status::ok;
    record.provenance.source_id = variant.source_id;
    std::vector<CaseRecord> records{record, record, record};
    EXPECT_TRUE(find_stale(records).empty());

    records[1].provenance.source_id = std::string(64, 'a');
    records[2].provenance.source_id = std::string(64, 'b');
    records[2].status = Status::timeout;
    records.push_back(record);
    records.back().variant = "no_longer_there";
    const auto stale = find_stale(records);
    ASSERT_EQ(stale.size(), 1U);
    EXPECT_EQ(stale[0].name(), "dot/" + std::string(variant.name));
    EXPECT_EQ(stale[0].rows, 2U);
    EXPECT_EQ(stale[0].timed, 1U);
    EXPECT_EQ(stale[0].measured_id, std::string(64, 'a'));
    EXPECT_EQ(stale[0].source_id, variant.source_id);
    expect_holds(describe(stale[0]), {"dot/", "2 records (1 times)", "aaaaaaaaaaaa", "sweep it again"});
}

TEST(Stale, AListAcceptsOneSourceOnly) {
    const TemporaryFolder folder;
    EXPECT_TRUE(load_known_stale(folder.path()).empty());
    const auto write = [&](const std::string& text) { std::ofstream(folder / "known_stale.json") << text; };
    write(R"({"schema":"espalier.known_stale/1","variants":{"dot/x":{"source_id":"12ab","reason":"a comment"}}})");
    const KnownStaleList known = load_known_stale(folder.path());
    EXPECT_TRUE(is_known(known, {.family = "dot", .variant = "x", .source_id = "12ab"}));
    EXPECT_FALSE(is_known(known, {.family = "dot", .variant = "x", .source_id = "12ac"}));
    EXPECT_FALSE(is_known(known, {.family = "dot", .variant = "y", .source_id = "12ab"}));

    const auto refused = [&](const std::string& text) {
        write(text);
        return message_of<BadData>([&] { static_cast<void>(load_known_stale(folder.path())); });
    };
    expect_holds(refused("[1"), {"known_stale.json", "not JSON"});
    expect_holds(refused(R"({"schema":"espalier.known_stale/2","variants":{}})"), {"schema"});
    expect_holds(refused(R"({"schema":"espalier.known_stale/1","variants":{"dot/x":{"source_id":"1"}}})"), {"reason"});
}

}  // namespace
}  // namespace espalier::bench
