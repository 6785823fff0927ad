// What sweeps verify, leave out and foresee.

#include <nlohmann/json.hpp>
#include <set>

#include "harness/bench/records/journal.hpp"
#include "tests/bench/sweep/sweeping.hpp"

namespace espalier::bench {
namespace {

TEST_F(Sweeping, CeilingsAreMeasuredWhenTheyAreWanted) {
    const std::string cases = "--variant right_baseline -p size=10 -p seed=0 --json ";
    const auto seconds = [&](const std::string& command) {
        return nlohmann::json::parse(run(command).out).at(0).at("ceilings_seconds").get<double>();
    };
    EXPECT_EQ(seconds(sweep(cases)), 0);
    EXPECT_EQ(results().device.bytes_per_second, 0);
    EXPECT_EQ(results().cases.at(0).floor_ns, 0);
    EXPECT_GT(seconds(sweep_with_ceilings(cases)), 0);
    EXPECT_GT(results().device.bytes_per_second, 0);
    EXPECT_EQ(seconds(sweep(cases)), 0);
    EXPECT_GT(results().device.bytes_per_second, 0) << "what is known stays known";
}

TEST_F(Sweeping, WhatTheOracleCannotAffordIsVerifiedOnATwin) {
    EXPECT_EQ(run(sweep("--variant right,right_baseline,only_the_tail -p size=13000077 -p seed=0")).code, 1);
    for (const CaseRecord& record : results().cases) {
        if (record.variant == "only_the_tail") {
            EXPECT_EQ(record.status, Status::wrong);
            expect_holds(record.reason, {"on size="});
        } else {
            EXPECT_EQ(record.verification, "twin+baseline");
        }
    }
}

TEST_F(Sweeping, ABaselineThatHangsAtFullSizeTakesNobodyAlong) {
    EXPECT_EQ(run(sweep("--variant right,right_baseline -p size=13000077 -p seed=666 --timeout 3s")).code, 1);
    ASSERT_EQ(results().cases.size(), 3U);
    for (const CaseRecord& record : results().cases) {
        const bool baseline = record.variant == "right_baseline";
        EXPECT_EQ(record.status, baseline ? Status::timeout : Status::ok) << record.variant << ": " << record.reason;
        EXPECT_EQ(record.verification, baseline ? "" : "twin");
    }
}

TEST_F(Sweeping, ASampleIsComparedWithTheFastestOnATwin) {
    EXPECT_EQ(run(sweep("--verify once --variant right,only_the_tail -p size=13000077 -p seed=0")).code, 1);
    std::map<std::string, int> compared;
    for (const CaseRecord& record : results().cases)
        if (record.variant == "only_the_tail") {
            EXPECT_EQ(record.status, Status::wrong);
            expect_holds(record.reason, {"on size="});
        } else {
            ++compared[record.verification];
        }
    EXPECT_EQ(compared, (std::map<std::string, int>{{"twin", 1}, {"twin+fastest", 1}}));
}

TEST_F(Sweeping, WhoeverIsWrongAtFullSizeOnlyIsFoundByTheBaseline) {
    for (const auto& [seed, reference] : {std::pair{"776", "wrong_when_large"}, {"778", "another"}}) {
        SCOPED_TRACE(reference);
        fs::remove_all(folder_ / "results");
        fs::remove_all(folder_ / "journal");
        const std::string problem = std::string("-p size=13000077 -p seed=") + seed;
        EXPECT_EQ(run(sweep("--verify once --variant right,right_baseline,wrong_when_large " + problem)).code, 1);
        for (const CaseRecord& record : results().cases)
            EXPECT_EQ(to_string(record.status), record.variant == "wrong_when_large" ? "wrong" : "ok")
                << record.variant << ": " << record.reason;
    }
}

TEST_F(Sweeping, ASampleLeavesOutWhatCrawls) {
    EXPECT_EQ(run(sweep("--verify once --variant right,crawls -p size=13000077 -p seed=0")).code, 0);
    for (const CaseRecord& record : results().cases)
        EXPECT_EQ(to_string(record.status), record.variant == "crawls" ? "too_slow" : "ok") << record.reason;
    // It is an outcome: nobody asks again.
    const Finished again =
        run(sweep("--verify once --variant right,crawls -p size=13000077 -p seed=0 --resume --json"));
    EXPECT_EQ(nlohmann::json::parse(again.out).at(0).at("resumed_cases"), 3);
}

TEST_F(Sweeping, ADryRunMeasuresNothing) {
    const Finished finished = run(sweep("--variant right -p size=10 -p seed=0,1 --dry-run"));
    EXPECT_EQ(finished.code, 0);
    EXPECT_EQ(finished.out,
              "faulty/right|size=10;seed=0|block=1\nfaulty/right|size=10;seed=0|block=2\n"
              "faulty/right|size=10;seed=1|block=1\nfaulty/right|size=10;seed=1|block=2\n");
    expect_holds(finished.err, {"4 cases of 2 problems"});
    EXPECT_FALSE(has_journal());
}

TEST_F(Sweeping, ADryRunForeseesWhatTheLastSweepTook) {
    const auto summary = [&](const std::string& options) {
        const Finished finished = run(sweep("--variant right --json " + options));
        EXPECT_EQ(finished.code, 0) << finished.err;
        return nlohmann::json::parse(finished.out).at(0);
    };
    const auto expected = [&](const std::string& options) {
        return summary("--dry-run " + options).at("expected_seconds").get<double>();
    };
    const auto took = summary("-p seed=0 -p size=1000,2000");
    const double again = expected("-p seed=0 -p size=1000,2000");
    EXPECT_GE(again, took.at("timing_seconds").get<double>() + took.at("verification_seconds").get<double>());
    EXPECT_LE(again, took.at("wall_seconds").get<double>() - took.at("ceilings_seconds").get<double>());
    EXPECT_EQ(expected("-p seed=0 -p size=1000,2000 --resume"), 0);
    // Problems that were never measured are expected to take what those of the most similar size did.
    EXPECT_NEAR(expected("-p seed=5 -p size=3000"), expected("-p seed=0 -p size=2000"), 1e-9);
}

TEST_F(Sweeping, OfSeveralDevicesThoseThatAreThereAreSwept) {
    const auto summary = [&](const std::string& device, int code) {
        const Finished finished = run(sweep("--variant right -p size=10 -p seed=0 --json --device " + device));
        EXPECT_EQ(finished.code, code) << finished.err;
        if (code == 3) expect_holds(finished.err, {"left out: device 17:"});
        const auto all = nlohmann::json::parse(finished.out);
        EXPECT_EQ(all.size(), 1U);
        return all.at(0);
    };
    EXPECT_EQ(summary("cpu,17", 3).at("cases"), 2);
    const auto worker = summary("all", 0).at("workers").at(0);
    EXPECT_EQ(worker.at("device"), "cpu");
    EXPECT_EQ(worker.at("problems"), 1);
    EXPECT_EQ(worker.at("cases"), 2);
    EXPECT_GT(worker.at("wall_seconds"), 0);
}

}  // namespace
}  // namespace espalier::bench
