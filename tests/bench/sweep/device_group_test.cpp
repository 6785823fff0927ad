// Several devices swept at once. There may be no GPU here, so that two workers share the CPU: their times disturb each
// other, and everything else is as with two GPUs. Workers are this program itself, with the family of
// tests/bench/faulty.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/merge.hpp"
#include "harness/bench/sweep/plan/equal_shares.hpp"
#include "harness/bench/sweep/schedule/device_loop.hpp"
#include "harness/bench/sweep/schedule/sweep.hpp"
#include "harness/bench/sweep/worker/devices.hpp"
#include "harness/bench/sweep/worker/processors.hpp"
#include "harness/bench/sweep/worker/protocol.hpp"
#include "harness/bench/sweep/worker/worker.hpp"
#include "kernels/json/bad_data.hpp"
#include "tests/bench/sweep/several_devices.hpp"

namespace espalier::bench {
namespace {

/// A worker for this device has but one of the processors, which makes it another model.
constexpr const char* kOneProcessor = "one-processor";

const std::vector<std::string> kTwo{"cpu", "cpu"};

TEST_F(Devices, TwoShareTheProblemsAndMeasureEachOnce) {
    problems(40);
    options_.ceilings = true;
    const SweepOutcome outcome = sweep(options_, kTwo);
    ASSERT_EQ(outcome.summaries.size(), 1U);
    const SweepSummary& summary = outcome.summaries[0];
    EXPECT_FALSE(outcome.interrupted || summary.unfinished);
    ASSERT_EQ(summary.workers.size(), 2U);
    EXPECT_EQ(summary.workers[0].problems + summary.workers[1].problems, 40U);
    EXPECT_EQ(summary.workers[0].cases + summary.workers[1].cases, 120U);
    for (const WorkerSummary& worker : summary.workers) {
        EXPECT_GT(worker.problems, 5U) << "whoever is free takes the next";
        EXPECT_EQ(load_journal(worker.journal).cases.size(), worker.cases);
        EXPECT_EQ(worker.lost, "");
    }
    EXPECT_EQ(summary.statuses, (std::map<Status, std::size_t>{{Status::ok, 120}}));
    EXPECT_EQ(fs::path(summary.workers[0].journal).filename(), summary.device_key + ".cpu-0.jsonl");
    EXPECT_EQ(fs::path(summary.workers[1].journal).filename(), summary.device_key + ".cpu-1.jsonl");
    expect_each_once(120);
    expect_whole(summary, 120);
    // The ceilings were measured once.
    const auto a = load_journal(summary.workers[0].journal).devices,
               b = load_journal(summary.workers[1].journal).devices;
    ASSERT_TRUE(a.size() == 1 && b.size() == 1);
    EXPECT_GT(a[0].bytes_per_second, 0);
    EXPECT_EQ(a[0].bytes_per_second, b[0].bytes_per_second);
}

TEST_F(Devices, BothAreBusyAllTheTime) {
    options_.variants = {"right_baseline"};
    options_.axes = {{"size", {"1", "2", "3", "4", "5", "6", "7", "8"}}, {"seed", {"777"}}};  // it sleeps
    const SweepSummary summary = sweep(options_, kTwo).summaries.at(0);
    const double busy = summary.spent.timing + summary.spent.verification;
    const double throughput = busy / (summary.wall_seconds - summary.spent.ceilings);
    RecordProperty("throughput", std::to_string(throughput));
    EXPECT_GT(throughput, 1.3) << "times that of one; two but for what other programs take";
}

TEST_F(Devices, HalfOfTheJournalsIsAHole) {
    problems(6);
    const SweepSummary summary = sweep(options_, kTwo).summaries.at(0);
    const auto reports = merge_journals({summary.workers[0].journal}, options_.results_folder, {});
    EXPECT_EQ(reports.at(0).missing.size(), summary.workers[1].problems);
    expect_whole(summary, 18);
}

TEST_F(Devices, AWorkerThatIsKilledLosesNothing) {
    problems(60);
    SweepOutcome outcome;
    {
        const auto killer = when_recorded(9, [] {
            const auto running = workers();
            ASSERT_EQ(running.size(), 2U);
            kill(running[0], SIGKILL);
        });
        outcome = sweep(options_, kTwo);
    }
    const SweepSummary& summary = outcome.summaries.at(0);
    EXPECT_FALSE(summary.unfinished);
    // It cannot be told from a case that took all of the memory; between two cases it is all of a problem.
    EXPECT_GE(summary.failed(), 1U);
    EXPECT_LE(summary.failed(), 3U);
    for (const WorkerSummary& worker : summary.workers) EXPECT_EQ(worker.lost, "") << "it was started again";
    expect_each_once(180);
    expect_whole(summary, 180);
}

TEST_F(Devices, StoppedTheyGoOnWhereTheyWereWithAnyNumber) {
    problems(60);
    std::size_t there = 0;
    for (const auto& devices : {kTwo, {"cpu"}, kTwo}) {
        const auto stopper = when_recorded(there + 9, [] { kill(getpid(), SIGINT); });
        const SweepOutcome outcome = sweep(options_, devices);
        EXPECT_TRUE(outcome.interrupted);
        EXPECT_TRUE(outcome.summaries.at(0).unfinished);
        EXPECT_EQ(outcome.summaries.at(0).resumed_cases, there);
        EXPECT_TRUE(workers().empty());
        there = recorded().size();
        EXPECT_EQ(there % 3, 0U) << "whole problems";
        EXPECT_LT(there, 180U);
    }
    const SweepOutcome last = sweep(options_, kTwo);
    EXPECT_FALSE(last.interrupted || last.summaries.at(0).unfinished);
    EXPECT_EQ(last.summaries[0].resumed_cases, there);
    expect_each_once(180);
    EXPECT_EQ(last.summaries[0].journals.size(), 3U);
    expect_whole(last.summaries[0], 180);
    EXPECT_EQ(sweep(options_, {"cpu"}).summaries.at(0).resumed_cases, 180U);
    expect_each_once(180);
}

TEST_F(Devices, ADeviceThatIsLostLeavesItsPartToTheOther) {
    problems(60);
    SweepOutcome outcome;
    {
        const auto killer = when_recorded(9, [this] {
            static_cast<void>(folder_.file("lost", ""));
            kill(workers().at(0), SIGKILL);
        });
        outcome = sweep(options_, kTwo);
    }
    const SweepSummary& summary = outcome.summaries.at(0);
    EXPECT_FALSE(summary.unfinished);
    EXPECT_LE(summary.failed(), 3U);
    const auto lost = std::ranges::count_if(
        summary.workers, [](const WorkerSummary& w) { return w.lost.find("ended at its start") != std::string::npos; });
    EXPECT_EQ(lost, 1);
    expect_each_once(180);
    expect_whole(summary, 180);
}

TEST_F(Devices, WithoutAnyDeviceLeftTheSweepIsUnfinishedAndCanGoOn) {
    problems(20);
    {
        const auto killer = when_recorded(9, [this] {
            static_cast<void>(folder_.file("lost", ""));
            for (const pid_t worker : workers()) kill(worker, SIGKILL);
        });
        const SweepOutcome outcome = sweep(options_, kTwo);
        EXPECT_TRUE(outcome.summaries.at(0).unfinished);
        EXPECT_FALSE(outcome.interrupted);
        for (const WorkerSummary& worker : outcome.summaries[0].workers) EXPECT_NE(worker.lost, "");
    }
    fs::remove(folder_ / "lost");
    const SweepOutcome outcome = sweep(options_, kTwo);
    EXPECT_FALSE(outcome.summaries.at(0).unfinished);
    expect_each_once(60);
    expect_whole(outcome.summaries[0], 60);
}

TEST_F(Devices, WhatCannotBeUsedIsLeftOutAndSaid) {
    problems(4);
    const SweepOutcome outcome = sweep(options_, {"cpu", "no-device", "cpu"});
    ASSERT_EQ(outcome.left_out.size(), 1U);
    expect_holds(outcome.left_out[0], {"no-device", "neither cpu nor a GPU's number"});
    EXPECT_EQ(outcome.summaries.at(0).workers.size(), 2U);
    expect_whole(outcome.summaries[0], 12);
}

TEST_F(Devices, OtherModelsHaveQueuesOfTheirOwnAtTheSameTime) {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor makes one model";
    problems(20);
    const SweepOutcome outcome = sweep(options_, {"cpu", kOneProcessor});
    ASSERT_EQ(outcome.summaries.size(), 2U);
    EXPECT_NE(outcome.summaries[0].device_key, outcome.summaries[1].device_key);
    for (const SweepSummary& summary : outcome.summaries) {
        ASSERT_EQ(summary.workers.size(), 1U);
        EXPECT_EQ(summary.workers[0].problems, 20U);
        EXPECT_EQ(fs::path(summary.workers[0].journal).filename(), summary.device_key + ".jsonl");
        EXPECT_FALSE(summary.unfinished);
        expect_whole(summary, 60);
    }
    double together = 0;
    for (const SweepSummary& summary : outcome.summaries) together += summary.workers[0].wall_seconds;
    EXPECT_GT(together, outcome.summaries[1].wall_seconds - outcome.summaries[0].spent.ceilings -
                            outcome.summaries[1].spent.ceilings)
        << "not one after the other";
}

TEST_F(Devices, AFullDiskEndsTheSweepOfAllAndCostsNothingRecorded) {
    problems(60);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{20'000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string said = message_of<BadData>([&] { static_cast<void>(sweep(options_, kTwo)); });
    setrlimit(RLIMIT_FSIZE, &before);
    expect_holds(said, {"cannot append to the journal", "--resume"});
    EXPECT_TRUE(workers().empty());
    const std::size_t there = recorded().size();
    EXPECT_GT(there, 0U);
    const SweepSummary summary = sweep(options_, kTwo).summaries.at(0);
    EXPECT_EQ(summary.resumed_cases, there);
    expect_each_once(180);
    expect_whole(summary, 180);
}

TEST_F(Devices, ShardsOfSeveralDevicesMakeAWhole) {
    problems(10);
    options_.shards = 2;
    SweepSummary last;
    for (options_.shard = 1; options_.shard <= 2; ++options_.shard) last = sweep(options_, kTwo).summaries.at(0);
    EXPECT_EQ(journals().size(), 4U);
    EXPECT_TRUE(fs::exists(options_.journal_folder / (last.device_key + ".cpu-1.shard-2-of-2.jsonl")));
    expect_each_once(30);
    EXPECT_EQ(last.journals.size(), 4U) << "resuming reads all of the device's";
    expect_whole(last, 30);
}

TEST_F(Devices, TheTimeLimitIsOfTheWall) {
    problems(40, "100000");
    options_.noise = 1e-6;  // out of reach: every problem uses up its share
    options_.max_seconds = 4;
    const SweepSummary summary = sweep(options_, kTwo).summaries.at(0);
    EXPECT_GT(summary.wall_seconds, 3);
    EXPECT_LT(summary.wall_seconds - summary.spent.ceilings, 7) << "not the sum of both workers' times";
    EXPECT_FALSE(summary.unfinished);
    EXPECT_GT(summary.statuses.at(Status::not_measured), 0U) << "recorded, too";
    expect_whole(summary, 120);
}

TEST_F(Devices, ADryRunExpectsThemToShare) {
    problems(10);
    std::vector<std::string> left_out;
    const auto seconds = [&](const std::vector<std::string>& devices) {
        const auto dry = dry_run(options_, devices, left_out);
        EXPECT_EQ(dry.at(0).devices, devices.size());
        EXPECT_EQ(dry.at(0).cases, 30U);
        return dry.at(0).expected_seconds;
    };
    EXPECT_NEAR(seconds(kTwo), seconds({"cpu"}) / 2, 1e-9);
    EXPECT_TRUE(left_out.empty());
    EXPECT_TRUE(journals().empty());
}

/// Asks for one case of the first problem and, when it knows its outcome, for the other two.
class OneCaseThenTheOthers final : public Strategy {
public:
    std::optional<Task> next(const SchedulerState&) override {
        if (turns_ == 2) return std::nullopt;
        return Task{.problem = 0,
                    .cases = turns_++ == 0 ? std::vector<std::size_t>{1} : std::vector<std::size_t>{2, 0}};
    }
    void finished(const Task& task, std::span<const CaseRecord> records) override {
        ASSERT_EQ(records.size(), task.cases.size());
    }
    std::size_t remaining() const override { return 2 - turns_; }

private:
    std::size_t turns_ = 0;
};

TEST_F(Devices, AStrategyMayAskForSomeCasesAndReturn) {
    problems(1);
    SupervisedWorker worker("cpu");
    worker.open();
    const SweepPlan plan = make_plan(options_, worker.hello().device, worker.hello().free);
    ProblemQueue queue(std::make_unique<OneCaseThenTheOthers>(), 1);
    StatusCount statuses;
    SweepProgress progress(true, kUnlimitedSeconds);
    progress.watch(queue, 1);
    JournalWriter journal(folder_ / "journal.jsonl");
    RecordFrame frame;
    frame.device = worker.hello().device;
    frame.session = "s";
    const Recorded nothing = nothing_recorded(plan);
    DeviceLoop loop({options_, plan, nothing, queue, statuses, progress}, worker, journal, frame, 0);
    loop.run();
    const auto cases = load_journal(folder_ / "journal.jsonl").cases;
    ASSERT_EQ(cases.size(), 3U);
    const std::array<std::size_t, 3> asked{1, 2, 0};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(cases[i].key(), planned_record(frame, plan.problems[0], plan.problems[0].cases[asked[i]]).key());
        EXPECT_EQ(cases[i].status, Status::ok) << cases[i].reason;
        EXPECT_EQ(cases[i].provenance.session, i == 0 ? "s" : "s-001") << "only what was timed together is paired";
    }
}

TEST_F(Devices, AProblemThatCostsTwoDevicesIsNotTriedOnAThird) {
    options_.axes = {{"size", {"10"}}, {"seed", {"777"}}};  // it sleeps for long enough to be killed
    std::optional<ProblemQueue> queue;
    StatusCount statuses;
    SweepProgress progress(true, kUnlimitedSeconds);
    JournalWriter journal(folder_ / "journal.jsonl");
    for (int device = 0; device < 2; ++device) {
        SupervisedWorker worker("cpu");
        worker.open();
        const SweepPlan plan = make_plan(options_, worker.hello().device, worker.hello().free);
        if (device == 0) {
            queue.emplace(std::make_unique<EqualShares>(1, std::vector<std::size_t>{0}, 1), 3);
            progress.watch(*queue, 1);
        }
        RecordFrame frame;
        frame.device = worker.hello().device;
        const Recorded nothing = nothing_recorded(plan);
        DeviceLoop loop({options_, plan, nothing, *queue, statuses, progress}, worker, journal, frame, 0);
        const std::jthread killer([this] {
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            static_cast<void>(folder_.file("lost", ""));
            kill(workers().at(0), SIGKILL);
        });
        EXPECT_THROW(loop.run(), NoUsableDevice);
        fs::remove(folder_ / "lost");
        EXPECT_EQ(queue->exhausted(), device == 1);
    }
    const auto cases = load_journal(folder_ / "journal.jsonl").cases;
    ASSERT_EQ(cases.size(), 3U);
    for (const CaseRecord& record : cases) {
        EXPECT_EQ(record.status, Status::crashed);
        expect_holds(record.reason, {"in quarantine", "two devices were lost", "ended at its start"});
    }
}

TEST_F(Devices, WorkersOfGpusShareTheProcessors) {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    const auto size = std::max(1, CPU_COUNT(&all) / 2);
    cpu_set_t taken;
    CPU_ZERO(&taken);
    for (std::size_t part = 0; part < 2; ++part) {
        const ConfinedThread confined({part, 2});
        cpu_set_t mine, both;
        ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
        EXPECT_EQ(CPU_COUNT(&mine), size);
        CPU_AND(&both, &mine, &taken);
        EXPECT_TRUE(CPU_COUNT(&all) == 1 || CPU_COUNT(&both) == 0) << "a processor for two workers";
        CPU_OR(&taken, &taken, &mine);
    }
    cpu_set_t after;
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&after, &all)) << "the thread is confined for good";

    SupervisedWorker worker("cpu", {1, 2});
    worker.open();
    EXPECT_EQ(worker.hello().device.threads, size) << "the worker does not know of its share";
}

TEST_F(Devices, EveryRecordOfAGpuSaysWhichOne) {
    problems(1);
    SupervisedWorker worker("cpu");
    worker.open();
    const SweepPlan plan = make_plan(options_, worker.hello().device, worker.hello().free);
    ProblemOutcome outcome;
    outcome.cases.resize(3);
    outcome.cases[0] = {Status::ok, "", "oracle", {}, {1, 2, 3}, {}, {}};
    outcome.cases[1] = {Status::crashed, "it fell off the bus", "", {}, {}, {}, {}};
    outcome.conditions = {.temperature_c = 40};
    RecordFrame frame;
    frame.device = worker.hello().device;
    frame.ordinal = 3;
    const auto records = records_of(frame, plan.problems[0], outcome);
    EXPECT_EQ(records[0].conditions, (Conditions{.temperature_c = 40, .gpu_ordinal = 3}));
    EXPECT_EQ(records[1].conditions, (Conditions{.gpu_ordinal = 3}));
    frame.ordinal.reset();
    EXPECT_EQ(records_of(frame, plan.problems[0], outcome)[1].conditions, Conditions{});
}

TEST_F(Devices, ACaseThatIsTooShortSaysWhatWasRecordedInItsPlace) {
    problems(1);
    SupervisedWorker worker("cpu");
    worker.open();
    const SweepPlan plan = make_plan(options_, worker.hello().device, worker.hello().free);
    ProblemOutcome outcome;
    outcome.cases.resize(3);
    for (ProblemOutcome::Case& ended : outcome.cases)
        ended = {.status = Status::ok, .reason = "", .verification = "oracle", .samples_ns = {5, 5, 7}};
    outcome.cases[1].resolution_ns = 5;
    RecordFrame frame;
    frame.device = worker.hello().device;
    const auto records = records_of(frame, plan.problems[0], outcome);
    EXPECT_EQ(records[0].conditions, Conditions{});
    EXPECT_EQ(records[1].conditions, (Conditions{.resolution_ns = 5}));
    const auto event = protocol::decode_event(protocol::encode(protocol::Event(protocol::Timed{1, {5, 5, 7}, 5})));
    EXPECT_EQ(std::get<protocol::Timed>(event).resolution_ns, 5) << "the worker says so";
}

/// What a worker process does of this program.
int work(int argc, char** argv) {
    const char* lost = std::getenv(kLostVariable);
    if (lost && fs::exists(lost)) return 1;
    WorkerOptions options;
    for (int i = 2; i + 1 < argc; i += 2) {
        const std::string name = argv[i], value = argv[i + 1];
        if (name == "--device") options.device = value == kOneProcessor ? "cpu" : value;
        if (value == kOneProcessor) restrict_threads(1);
        if (name == "--channel") options.channel = std::stoi(value);
        if (name == "--page") options.page = std::stoi(value);
        if (name == "--parent") options.parent = std::stoi(value);
    }
    return run_worker(options);
}

}  // namespace
}  // namespace espalier::bench

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "worker") std::_Exit(espalier::bench::work(argc, argv));
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
