// The loop from a program's problems to its wisdom: ESPALIER_RECORD, `tune --problems`, ESPALIER_WISDOM.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.hpp"

namespace espalier {
namespace {

class TuneProblems : public testing::Test {
protected:
    /// A program that counts so many bytes and records what it asks for.
    [[nodiscard]] std::string recorded(std::size_t bytes) const {
        const std::string record = folder_ / "recorded";
        const Finished run = run_espalier(
            folder_, "histogram --device cpu --quiet " + quoted(folder_.file("data", std::string(bytes, 'a'))),
            "ESPALIER_RECORD=" + quoted(record) + " ");
        EXPECT_EQ(run.code, 0) << run.err;
        return record;
    }
    [[nodiscard]] Finished tune(const std::string& problems, const std::string& more = "",
                                const std::string& environment = "") const {
        return run_espalier(folder_, "tune --device cpu --budget 0.1 --problems " + quoted(problems) + " " + more,
                            environment);
    }
    [[nodiscard]] std::string output() const { return "--output " + quoted(wisdom_); }
    [[nodiscard]] Finished explain(const std::string& problem, const std::string& wisdom) const {
        return run_espalier(folder_, "explain --device cpu --family histogram -p " + problem,
                            "ESPALIER_WISDOM=" + quoted(wisdom) + " ");
    }

    TemporaryFolder folder_;
    const std::string wisdom_ = folder_ / "app.wisdom";
};

TEST_F(TuneProblems, WhatAProgramAsksForIsMeasuredAndUsed) {
    const std::string record = recorded(300'000);
    EXPECT_EQ(explain("bytes=300000", wisdom_).out.find("measured here"), std::string::npos);
    const Finished tuned = tune(record, output());
    ASSERT_EQ(tuned.code, 0) << tuned.err;
    expect_holds(tuned.out, {"histogram bytes=300000", "1 call, ", ", best of "});
    expect_holds(tuned.err, {"1 problem measured into ", "0 not measured", "expected: ", "ESPALIER_WISDOM="});
    expect_holds(explain("bytes=300000", wisdom_).out, {"measured here on "});
    EXPECT_EQ(explain("bytes=300001", wisdom_).out.find("measured here"), std::string::npos);

    const std::string learned = read_bytes(wisdom_);
    const Finished again = tune(record, output());
    EXPECT_EQ(again.code, 0) << again.err;
    expect_holds(again.out, {"known since "});
    EXPECT_EQ(read_bytes(wisdom_), learned) << "what is known is not measured again";
    EXPECT_EQ(tune(record, output() + " --exhaustive").code, 0);
    EXPECT_EQ(read_bytes(wisdom_).find(learned), 0U) << "the file only grows";
    expect_holds(read_bytes(wisdom_), {"effort=exhaustive"});
}

TEST_F(TuneProblems, TheVariableNamesTheFileToo) {
    const std::string list = folder_.file("list", "family=histogram problem=bytes=50000\n");
    const Finished none = tune(list);
    EXPECT_EQ(none.code, 2);
    expect_holds(none.err, {"give --output FILE, or set ESPALIER_WISDOM=FILE"});
    EXPECT_EQ(tune(list, "", "ESPALIER_WISDOM=" + quoted(wisdom_) + " ").code, 0);
    expect_holds(read_bytes(wisdom_), {"problem=bytes=50000"});
    // The option goes first, and the variable's file is neither read nor written.
    const std::string other = folder_ / "other.wisdom", learned = read_bytes(wisdom_);
    EXPECT_EQ(tune(list, "--output " + quoted(other), "ESPALIER_WISDOM=" + quoted(wisdom_) + " ").code, 0);
    expect_holds(read_bytes(other), {"problem=bytes=50000"});
    EXPECT_EQ(read_bytes(wisdom_), learned);
}

TEST_F(TuneProblems, ADryRunWritesNothing) {
    const Finished listed = tune(recorded(1000), "--dry-run " + output());
    EXPECT_EQ(listed.code, 0) << listed.err;
    expect_holds(listed.out, {"histogram bytes=1000", "to be measured; so far "});
    EXPECT_FALSE(std::filesystem::exists(wisdom_));
    EXPECT_EQ(tune(recorded(1000), "--dry-run").code, 0) << "it needs no file";
}

TEST_F(TuneProblems, WhatCannotBeMeasuredIsSaidAndTheRestGoesOn) {
    const std::string list = folder_.file("list",
                                          "family=histogram problem=bytes=60000 calls=1 timed=1 nanoseconds=5\n"
                                          "family=histogram problem=bytes=60000 device=cpu-elsewhere-8t calls=9\n"
                                          "family=travel_time problem=receivers=10 calls=8\n"
                                          "family=distance problem=queries=99999999;points=99999999 calls=7\n"
                                          "family=convolution_2d problem=width=10;height=10;channels=2\n"
                                          "family=knn problem=queries=10;queries_in=host\n"
                                          "family=dot problem=elements=9000 threads=9999\n");
    const Finished tuned = tune(list, output() + " --json");
    EXPECT_EQ(tuned.code, 0) << tuned.err;
    const auto json = nlohmann::json::parse(tuned.out);
    EXPECT_EQ(json.at("problems").size(), 7U);
    EXPECT_EQ(json.at("recorded_ns"), 5);
    std::map<std::string, int> outcomes;
    for (const auto& problem : json.at("problems")) {
        ++outcomes[problem.at("outcome")];
        EXPECT_EQ(problem.at("outcome") == "not_measured", problem.at("why") != "") << problem;
    }
    EXPECT_EQ(outcomes["learned"], 1);
    EXPECT_EQ(outcomes["not_measured"], 6);
    expect_holds(tuned.out, {"it was asked of cpu-elsewhere-8t", "there are no plans of travel_time", "too large",
                             "channels is 2", "`espalier sweep --problems` measures it"});
    // Nothing at all: the code says so.
    EXPECT_EQ(tune(folder_.file("list", "family=travel_time problem=receivers=10\n"), output()).code, 1);
}

TEST_F(TuneProblems, AForcedVariantIsNotMeasured) {
    const Finished tuned = tune(recorded(1000), output(), "ESPALIER_FORCE_VARIANT=histogram/cpu_scalar ");
    EXPECT_EQ(tuned.code, 1);
    expect_holds(tuned.out, {"not measured: ESPALIER_FORCE_VARIANT forces a variant: unset it"});
}

TEST_F(TuneProblems, TimeIsLimitedForAll) {
    const std::string list = folder_.file("list",
                                          "family=histogram problem=bytes=70000 calls=1 timed=1 nanoseconds=1e12\n"
                                          "family=histogram problem=bytes=60000\n");
    const Finished tuned = tune(list, output() + " --max-time 20s");
    EXPECT_EQ(tuned.code, 0) << tuned.err;
    expect_holds(tuned.out, {"not measured: the time of --max-time is over", "bytes=60000"});
    expect_holds(tuned.err, {"1 problem measured into ", "1 not measured"});
}

TEST_F(TuneProblems, FilesAreCheckedBeforeAnythingIsMeasured) {
    const std::string list = folder_.file("list", "family=histogram problem=bytes=1000\n");
    EXPECT_EQ(tune(list, "--output " + quoted(list)).code, 2);
    EXPECT_EQ(read_bytes(list), "family=histogram problem=bytes=1000\n");
    EXPECT_EQ(tune(folder_ / "missing", output()).code, 4);
    EXPECT_EQ(tune(list, "--output " + quoted(folder_.path().string())).code, 4);
    const Finished nowhere = tune(list, "--output " + quoted(folder_ / "missing/w"));
    EXPECT_EQ(nowhere.code, 4);
    expect_holds(nowhere.err, {"missing/w: nothing can be appended to it", "name a file in a folder that is there"});
    EXPECT_EQ(nowhere.err.find("measured into"), std::string::npos) << "before anything is measured";
    const Finished garbage = tune(folder_.file("list", "family=histogram problem=bytes=1\ngarbage\n"), output());
    EXPECT_EQ(garbage.code, 4);
    expect_holds(garbage.err, {"line 2: 'garbage' is no name=value: mend the line, or remove it"});
    EXPECT_FALSE(std::filesystem::exists(wisdom_));
    EXPECT_EQ(tune(list, "kernel.json " + output()).code, 2);
    EXPECT_EQ(tune(list, "--compiler nvcc " + output()).code, 2);
    EXPECT_EQ(run_espalier(folder_, "tune").code, 2);
    EXPECT_EQ(run_espalier(folder_, "tune kernel.json --budget 3").code, 2);
}

}  // namespace
}  // namespace espalier
