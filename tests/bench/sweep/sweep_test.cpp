// Whole sweeps as a user runs them, with variants that fail in every way and a harness that is killed,
// stopped and starved. The program is faulty_espalier (tests/bench/faulty).

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/results.hpp"
#include "tests/bench/sweep/sweeping.hpp"

namespace espalier::bench {
namespace {

struct Fault {
    const char* variant;
    Status status;
    const char* reason;
};
constexpr Fault kFaults[] = {
    {"aborts", Status::crashed, "SIGABRT"},
    {"before_the_start", Status::wrong, "before the output's start"},
    {"crashes_when_timed", Status::crashed, "SIGSEGV"},
    {"crawls", Status::ok, ""},
    {"declines", Status::unsupported, "never, and it says"},
    {"exits", Status::crashed, "exit status 0"},
    {"greedy", Status::unsupported, "1125899906842624 of workspace"},
    {"is_killed", Status::out_of_memory, "SIGKILL"},
    {"never_ends", Status::timeout, "no progress for 1 s"},
    {"never_ends_talking", Status::timeout, "no progress for 1 s"},
    {"one_element", Status::wrong, "value 500"},
    {"one_input", Status::wrong, "is 0"},
    {"only_once", Status::wrong, "value 0"},
    {"only_the_tail", Status::wrong, "value 992"},
    {"past_the_end", Status::wrong, "past the output's end"},
    {"returns_early", Status::wrong, "value 0"},
    {"right", Status::ok, ""},
    {"right_baseline", Status::ok, ""},
    {"segfaults", Status::crashed, "SIGSEGV"},
    {"sometimes", Status::wrong, "value 0"},
    {"throws", Status::crashed, "told \\x1b[31m\"so\""},
    {"wants_too_much", Status::out_of_memory, "memory"},
    {"wrong_when_large", Status::ok, ""},
};

TEST_F(Sweeping, EveryFaultBecomesItsStatusAndTheOthersAreMeasured) {
    const Finished finished = run(sweep("-p size=1000 -p seed=0,1 --timeout 1s"));
    EXPECT_EQ(finished.code, 1) << finished.err;
    const auto all = results();
    EXPECT_TRUE(all.missing.empty());
    std::map<std::string, int> seen;
    for (const CaseRecord& record : all.cases) {
        SCOPED_TRACE(record.key() + ": " + record.reason);
        const auto fault = std::find_if(std::begin(kFaults), std::end(kFaults),
                                        [&](const Fault& f) { return record.variant == f.variant; });
        ASSERT_NE(fault, std::end(kFaults));
        EXPECT_EQ(to_string(record.status), to_string(fault->status));
        expect_holds(record.reason, {fault->reason});
        EXPECT_EQ(record.samples_ns.empty(), record.status != Status::ok) << "only what is right is timed";
        ++seen[record.variant];
    }
    EXPECT_EQ(seen.size(), std::size(kFaults));
    for (const auto& [variant, count] : seen) EXPECT_EQ(count, variant == "right" ? 4 : 2) << variant;
    // No byte of what a variant says reaches the terminal as an escape.
    EXPECT_EQ(finished.err.find('\x1b'), std::string::npos);
    expect_no_orphans();
}

TEST_F(Sweeping, AVariantThatNeverEndsIsKilledInTime) {
    ChildProcess child(sweep_words({"--variant", "never_ends", "-p", "size=10", "-p", "seed=0", "--timeout", "2s"}),
                       folder_ / "output.txt");
    const auto waiting_since = [&](const std::string& text) {
        while (read_bytes(folder_ / "output.txt").find(text) == std::string::npos)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return std::chrono::steady_clock::now();
    };
    // The clock starts when the device has been measured, of which the journal's first line tells.
    while (!has_journal() || fs::is_empty(folder_ / "journal"))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto start = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(waiting_since("timeout") - start).count();
    EXPECT_GT(seconds, 1.8);
    EXPECT_LT(seconds, 4);
    EXPECT_EQ(child.wait(), 1);
    expect_no_orphans();
}

/// Every complete case of the journal, by key, with how often it is there.
std::map<std::string, int> cases_in(const std::string& journal) {
    std::map<std::string, int> keys;
    if (!journal.empty())
        for (const CaseRecord& record : load_journal(journal).cases) ++keys[record.key()];
    return keys;
}

TEST_F(Sweeping, KilledAgainAndAgainItLosesAndRepeatsNothing) {
    // A hundred by hand: ESPALIER_TEST_KILLS=100.
    const char* asked = std::getenv("ESPALIER_TEST_KILLS");
    const int kills = asked ? std::atoi(asked) : 15;
    std::string seeds = "seed=0";
    for (int i = 1; i < 3 * kills; ++i) seeds += "," + std::to_string(i);
    const std::vector<std::string> options{
        "--variant",  "right,right_baseline",      "-p",      "size=100", "-p", seeds,
        "--max-time", std::to_string(kills) + "s", "--resume"};
    std::mt19937 random(5);
    std::map<std::string, int> before;
    for (int kill = 0; kill < kills; ++kill) {
        ChildProcess child(sweep_words(options), folder_ / "output.txt");
        std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 500));
        child.kill(SIGKILL);
        static_cast<void>(child.wait());
        expect_no_orphans();
        if (!has_journal() || fs::is_empty(folder_ / "journal")) continue;
        const auto after = cases_in(journal_file());
        for (const auto& [key, count] : before) ASSERT_TRUE(after.contains(key)) << key << " was lost by kill " << kill;
        before = after;
    }
    const Finished finished = run(sweep("--variant right,right_baseline -p size=100 -p " + seeds + " --resume"));
    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(results().cases.size(), static_cast<std::size_t>(3 * 3 * kills));
    EXPECT_TRUE(results().missing.empty());
    for (const CaseRecord& record : load_journal(journal_file()).cases)
        if (record.status == Status::not_measured) --before[record.key()];  // the time budget's: rightly repeated
    for (const auto& [key, count] : cases_in(journal_file())) EXPECT_EQ(count, 1 - std::min(0, before[key])) << key;
}

TEST_F(Sweeping, AFullDiskEndsItWithItsReasonAndAWholeJournal) {
    std::mt19937 random(6);
    for (int i = 0; i < 8; ++i) {
        ChildProcess child(sweep_words({"--variant", "right,right_baseline", "-p", "seed=0,1,2,3,4,5,6,7", "--max-time",
                                        "2s", "--no-merge"}),
                           folder_ / "output.txt", 2000 + random() % 5000);
        EXPECT_EQ(child.wait(), 4);
        const std::string said = read_bytes(folder_ / "output.txt");
        expect_holds(said, {"cannot append to the journal", "too large", "--resume"});
        EXPECT_TRUE(load_journal(journal_file()).damage.empty());
        fs::remove_all(folder_ / "journal");
    }
    expect_no_orphans();
}

TEST_F(Sweeping, InterruptedItStopsCleanlyAndGoesOn) {
    const std::string seeds = "seed=0,1,2,3,4,5,6,7,8,9";
    std::size_t there = 0;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        ChildProcess child(
            sweep_words({"--variant", "right,right_baseline", "-p", "size=100", "-p", seeds, "--resume"}),
            folder_ / "output.txt");
        // A problem of this run is finished, so that it is in the midst of the next.
        while (!has_journal() || fs::is_empty(folder_ / "journal") || cases_in(journal_file()).size() <= there)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        child.kill(signal);
        const auto code = child.wait_for(3);
        ASSERT_TRUE(code) << "it did not stop";
        EXPECT_EQ(*code, 128 + signal);
        expect_holds(read_bytes(folder_ / "output.txt"), {"--resume"});
        EXPECT_TRUE(load_journal(journal_file()).damage.empty());
        there = cases_in(journal_file()).size();
        expect_no_orphans();
    }
    const Finished finished = run(sweep("--variant right,right_baseline -p size=100 -p " + seeds + " --resume --json"));
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(results().cases.size(), 30U);
    for (const auto& [key, count] : cases_in(journal_file())) EXPECT_EQ(count, 1) << key;
}

TEST_F(Sweeping, ResumingMeasuresNothingTwice) {
    const std::string sweep_two = sweep("--variant right_baseline -p size=10 -p seed=0,1 --resume --json");
    EXPECT_EQ(run(sweep_two).code, 0);
    const std::string before = read_bytes(journal_file());
    const auto summary = nlohmann::json::parse(run(sweep_two).out);
    EXPECT_EQ(summary.at(0).at("resumed_cases"), 2);
    EXPECT_EQ(cases_in(journal_file()).size(), 2U);
    EXPECT_EQ(read_bytes(journal_file()).compare(0, before.size(), before), 0);
}

TEST_F(Sweeping, ShardsMakeAWholeAndAMissingOneIsAHole) {
    const std::string part = "--variant right_baseline -p size=10 -p seed=0,1,2,3,4 --no-merge --shard ";
    EXPECT_EQ(run(sweep(part + "1/2")).code, 0);
    const std::string merge = "merge " + quoted(folder_ / "journal") + " --results " + quoted(folder_ / "results");
    expect_holds(run(merge).err, {"shard 2 of 2 is missing"});
    EXPECT_EQ(results().cases.size(), 3U);
    EXPECT_EQ(run(sweep(part + "2/2")).code, 0);
    EXPECT_EQ(run(merge).code, 0);
    EXPECT_EQ(results().cases.size(), 5U);
    EXPECT_TRUE(results().missing.empty());
}

TEST_F(Sweeping, TheTimeBudgetHoldsAndWhatItCutsIsRecorded) {
    std::string seeds = "seed=0";
    for (int i = 1; i < 60; ++i) seeds += "," + std::to_string(i);
    const auto start = std::chrono::steady_clock::now();
    // So little noise is out of reach: every problem uses up its share.
    std::string cases("--variant right,right_baseline -p size=100000 --max-time 4s --json -p ");
    cases += seeds;
    const Finished finished = run(sweep(cases, "0.0001%"));
    EXPECT_EQ(finished.code, 0);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 12);
    const auto all = results();
    EXPECT_EQ(all.cases.size(), 180U) << "what was not measured is recorded too";
    EXPECT_TRUE(all.missing.empty());
    for (const CaseRecord& record : all.cases)
        EXPECT_EQ(record.reason, record.status == Status::not_measured ? "time budget" : "");
    const auto cut = std::ranges::count(all.cases, Status::not_measured, &CaseRecord::status);
    ASSERT_GT(cut, 0) << "nothing was cut";
    const auto summary = nlohmann::json::parse(finished.out).at(0);
    EXPECT_EQ(summary.at("not_measured"), nlohmann::json({{"time budget", cut}}));
    const std::string warning =
        std::to_string(cut) + " of the 180 cases that could run were not measured: the time budget";
    expect_holds(summary.at("warnings").at(0).get<std::string>(), {warning.c_str()});
    expect_holds(finished.err, {warning.c_str()});
}

TEST_F(Sweeping, EveryRecordSaysWhatElseTheMachineDid) {
    const Finished finished = run(sweep("--variant right,right_baseline -p size=1000 -p seed=1,2 --json"));
    ASSERT_EQ(finished.code, 0) << finished.err;
    std::string label;
    double user = 0;  // of all processors; some sandboxes tell none
    const bool told = std::ifstream("/proc/stat") >> label >> user && user > 0;
    for (const CaseRecord& record : results().cases) {
        const NamedValues listed = named_values(record.conditions);
        const std::map<std::string, double> conditions(listed.begin(), listed.end());
        for (const char* name : {"clock_share", "disturbed_share", "foreign_cpu_share", "steal_cpu_share"}) {
            if (!told && std::string(name).ends_with("cpu_share")) continue;
            ASSERT_TRUE(conditions.contains(name)) << name;
            EXPECT_GE(conditions.at(name), 0) << name;
            EXPECT_LE(conditions.at(name), 1) << name;
        }
        EXPECT_EQ(conditions.contains("processors"), told);
    }
    EXPECT_EQ(nlohmann::json::parse(finished.out).at(0).at("waiting_seconds"), 0);
}

TEST_F(Sweeping, ResumingMeasuresAgainWhatWasDisturbed) {
    const std::string cases = "--variant right,right_baseline -p size=100 -p seed=1,2 --resume ";
    ASSERT_EQ(run(sweep(cases)).code, 0);
    auto journal = load_journal(journal_file());
    std::erase_if(journal.cases, [](const CaseRecord& r) { return r.problem.find("seed=2") == std::string::npos; });
    ASSERT_EQ(journal.cases.size(), 3U);
    for (CaseRecord& record : journal.cases) record.conditions = {.foreign_cpu_share = 0.9, .processors = 1};
    JournalWriter(journal_file()).append(journal.cases);
    ASSERT_EQ(run(sweep(cases + "--wait-for-quiet 0")).code, 0);
    EXPECT_EQ(cases_in(journal_file()).size(), 6U);
    for (const auto& [key, count] : cases_in(journal_file()))
        EXPECT_EQ(count, key.find("seed=2") == std::string::npos ? 1 : 2) << key << ", when nobody asks for quiet";
    ASSERT_EQ(run(sweep(cases + "--wait-for-quiet 0.1s")).code, 0);
    int again = 0;
    for (const auto& [key, count] : cases_in(journal_file()))
        again += key.find("seed=2") != std::string::npos && count >= 3;
    EXPECT_EQ(again, 3);
}

TEST_F(Sweeping, ResumingMeasuresAgainWhatWasTooShort) {
    const std::string cases = "--variant right,right_baseline -p size=100 -p seed=1 --resume --wait-for-quiet 0 ";
    ASSERT_EQ(run(sweep(cases)).code, 0);
    const std::string file = journal_file();
    auto journal = load_journal(file);
    for (CaseRecord& record : journal.cases) record.samples_ns.front() = -1.54;
    JournalWriter(journal_file()).append(journal.cases);
    ASSERT_EQ(run(sweep(cases)).code, 0);
    for (const auto& [key, count] : cases_in(journal_file()))
        EXPECT_EQ(count, 2) << key << ": the first sweep's was fine";
    fs::remove(file);
    JournalWriter(file).append(journal.cases);
    ASSERT_EQ(run(sweep(cases)).code, 0);
    for (const auto& [key, count] : cases_in(file)) EXPECT_EQ(count, 2) << key;
}

TEST_F(Sweeping, TimeThatIsLeftGoesToWhatTheBudgetCut) {
    // The slow one comes first, gets an eighth of the time, which is too little, and leaves most of it to the quick
    // ones.
    const Finished finished =
        run(sweep("--variant right,right_baseline -p size=100 -p seed=777,1,2,3,4,5,6,7 --seed 2 "
                  "--max-time 16s --json"));
    EXPECT_EQ(finished.code, 0) << finished.err;
    const auto summary = nlohmann::json::parse(finished.out).at(0);
    EXPECT_LT(summary.at("wall_seconds"), 16.5);
    EXPECT_EQ(summary.at("statuses"), nlohmann::json({{"ok", 24}})) << finished.err;
    std::map<std::string, std::vector<CaseRecord>> slow;
    for (const auto& [key, count] : cases_in(journal_file()))
        EXPECT_EQ(count, key.find("seed=777") == std::string::npos ? 1 : 2) << key;
    for (const CaseRecord& record : load_journal(journal_file()).cases)
        if (record.problem.find("seed=777") != std::string::npos) slow[record.provenance.session].push_back(record);
    ASSERT_EQ(slow.size(), 2U) << "only what was measured together may be paired";
    const std::string session = summary.at("session");
    EXPECT_TRUE(std::ranges::any_of(slow.at(session), [](const CaseRecord& r) { return r.reason == "time budget"; }));
    for (const CaseRecord& record : slow.at(session + "-001")) EXPECT_EQ(record.status, Status::ok);
    EXPECT_TRUE(results().missing.empty());
    for (const CaseRecord& record : results().cases) EXPECT_EQ(record.status, Status::ok);
}

TEST_F(Sweeping, RatiosOfEqualVariantsArePaired) {
    EXPECT_EQ(run(sweep_with_ceilings("--variant right,right_baseline -p size=100000 -p seed=0")).code, 0);
    const auto all = results();
    ASSERT_EQ(all.cases.size(), 3U);
    for (const CaseRecord& record : all.cases) {
        EXPECT_GE(record.samples_ns.size(), 3U);
        EXPECT_LE(record.time_lo_ns, record.time_ns);
        EXPECT_LE(record.time_ns, record.time_hi_ns);
        EXPECT_EQ(record.verification, "oracle");
        EXPECT_EQ(record.counters_reason, "hardware counters are collected on GPUs only");
        EXPECT_EQ(record.provenance.cache, "warm");
        EXPECT_GT(record.floor_ns, 0);
    }
}

TEST_F(Sweeping, WrongUsageNamesTheFix) {
    const auto refused = [&](const std::string& arguments, int code, std::initializer_list<const char*> parts) {
        const Finished finished = run(sweep(arguments));
        EXPECT_EQ(finished.code, code) << arguments << ": " << finished.err;
        EXPECT_EQ(finished.out, "");
        expect_holds(finished.err, parts);
    };
    refused("--family none", 2, {"unknown family 'none'", "faulty"});
    refused("--variant none", 2, {"unknown variant 'none'", "espalier list"});
    refused("-p none=1", 2, {"axis 'none'"});
    refused("-p size=many", 2, {"not a whole number"});
    refused("-p size", 2, {"axis=value"});
    refused("--shard 3/2", 2, {"--shard"});
    refused("--max-time soon", 2, {"--max-time", "3m"});
    refused("--wait-for-quiet soon", 2, {"--wait-for-quiet", "3m"});
    refused("--noise 200%", 2, {"--noise"});
    refused("--effort heroic", 2, {"--effort"});
    refused("--device 0", 3, {"device 0", "espalier doctor"});
    refused("--device gpu", 2, {"'gpu' is no device"});
    refused("--device cpu,0,cpu", 2, {"names cpu twice"});
    refused("--device cuda:0,0", 2, {"names 0 twice"});
    refused("--device cpu,tpu", 2, {"'tpu' is no device", "cuda:0"});
    refused("--counters require", 3, {"GPUs only"});
}

TEST_F(Sweeping, AKilledMergeLeavesTheOldFileOrTheNewOne) {
    EXPECT_EQ(run(sweep("--variant right,right_baseline -p size=10 -p seed=0,1,2")).code, 0);
    const std::string cases = results().device.key + "/faulty.jsonl";
    const std::string old_lines = read_bytes(folder_ / ("results/" + cases));
    EXPECT_EQ(run(sweep("--variant right,right_baseline -p size=10 -p seed=3,4,5 --no-merge")).code, 0);
    fs::copy(folder_ / "results", folder_ / "old", fs::copy_options::recursive);
    const std::vector<std::string> merge{ESPALIER_PROGRAM, "merge", folder_ / "journal", "--results",
                                         folder_ / "results"};
    std::string new_lines;
    {
        ChildProcess child(merge, folder_ / "output.txt");
        ASSERT_EQ(child.wait(), 0);
        new_lines = read_bytes(folder_ / ("results/" + cases));
        ASSERT_NE(new_lines, old_lines);
    }
    std::mt19937 random(8);
    int old_ones = 0, new_ones = 0;
    for (int kill = 0; kill < 60; ++kill) {
        fs::remove_all(folder_ / "results");
        fs::copy(folder_ / "old", folder_ / "results", fs::copy_options::recursive);
        ChildProcess child(merge, folder_ / "output.txt");
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
        child.kill(SIGKILL);
        static_cast<void>(child.wait());
        const std::string found = read_bytes(folder_ / ("results/" + cases));
        EXPECT_TRUE(found == old_lines || found == new_lines) << "kill " << kill;
        (found == old_lines ? old_ones : new_ones) += 1;
        EXPECT_NO_THROW(static_cast<void>(results())) << "kill " << kill;
    }
    RecordProperty("old", old_ones);
    RecordProperty("new", new_ones);
}

}  // namespace
}  // namespace espalier::bench
