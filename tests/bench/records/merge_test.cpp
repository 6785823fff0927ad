// Merging journals to results, with the damage that somebody else may have done.

#include "harness/bench/records/merge.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "harness/bench/records/results.hpp"
#include "kernels/json/bad_data.hpp"
#include "tests/bench/records/journal_of.hpp"

namespace espalier::bench {
namespace {

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
    driver.provenance.driver = sample_record(2).provenance.driver + "-18-amd64";
    EXPECT_EQ(pooled(driver, {}).at(0).cases, 2U) << "another build of one kernel";
    EXPECT_EQ(pooled(build, {.allow_builds = true}).at(0).cases, 2U);
}

TEST(Merge, OfAGpusBuildTheHostsCompilerIsNoDifference) {
    const auto timed = [](const char* build, DeviceKind kind) {
        Provenance provenance;
        provenance.build = build;
        return timed_build(provenance, kind);
    };
    const char *const ours = "espalier 0.1.0, Release, GNU 12.2.0, nvcc 13.0.88",
                      *const theirs = "espalier 0.1.0, Release, GNU 13.3.0 -Wl,-z,now, nvcc 13.0.88";
    EXPECT_EQ(timed(ours, DeviceKind::cuda), timed(theirs, DeviceKind::cuda));
    EXPECT_NE(timed(ours, DeviceKind::cpu), timed(theirs, DeviceKind::cpu));
    for (const char* other :
         {"espalier 0.1.0, Debug, GNU 12.2.0, nvcc 13.0.88", "espalier 0.2.0, Release, GNU 12.2.0, nvcc 13.0.88",
          "espalier 0.1.0, Release, GNU 12.2.0, nvcc 13.1.80",
          "espalier 0.1.0, Release, GNU 12.2.0, nvcc 13.0.88 -Xcicc=-O1"})
        EXPECT_NE(timed(ours, DeviceKind::cuda), timed(other, DeviceKind::cuda)) << other;
    for (const char* odd : {"", "another", "espalier, nvcc 13", ", nvcc 13"})
        EXPECT_EQ(timed(odd, DeviceKind::cuda), odd) << odd;
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

TEST(Merge, ASweepWithoutCeilingsKeepsThoseThatAreKnown) {
    const TemporaryFolder folder;
    DeviceInfo later = sample_device();
    ASSERT_GT(later.bytes_per_second, 0);
    later.bytes_per_second = later.cached_bytes_per_second = later.fp32_per_second = later.int_per_second = 0;
    later.amx_bf16 = true;  // what an older build did not ask for
    const std::string before = journal(folder, "1.jsonl", {sample_record(0)});
    const std::string after = journal(folder, "2.jsonl", {sample_record(1)}, later);
    merge_journals({before, after}, folder / "results", {});
    const DeviceInfo merged = load_results(folder / "results/cpu-test-2t").device;
    EXPECT_EQ(merged.bytes_per_second, sample_device().bytes_per_second);
    EXPECT_EQ(merged.cached_bytes_per_second, sample_device().cached_bytes_per_second);
    EXPECT_TRUE(merged.amx_bf16);
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

}  // namespace
}  // namespace espalier::bench
