// `espalier compare` as a user runs it: regressions, what is none, and what must not be compared.

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "harness/bench/records/results.hpp"
#include "tests/bench/compare/synthetic_sweeps.hpp"
#include "tests/support/record_samples.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

constexpr int kCases = 20, kSamples = 30;

class CompareCommand : public testing::Test {
protected:
    using Change = std::function<void(int, CaseRecord&)>;

    /// A sweep whose times scatter by 1% around 1 ms, changed.
    [[nodiscard]] std::string sweep(const std::string& name, unsigned seed, const Change& change = {},
                                    const DeviceInfo& device = sample_device()) const {
        std::mt19937 random(seed);
        std::normal_distribution<double> scatter(1e6, 1e4);
        DeviceResults results{.device = device, .cases = {}, .missing = {}};
        for (int i = 0; i < kCases; ++i) {
            CaseRecord record = sample_record(i);
            record.provenance.device_key = device.key;
            record.samples_ns.clear();
            for (int s = 0; s < kSamples; ++s) record.samples_ns.push_back(scatter(random));
            record.time_ns = record.time_lo_ns = record.time_hi_ns = 1e6;
            if (change) change(i, record);
            results.cases.push_back(std::move(record));
        }
        save_results(folder_ / name, results);
        return quoted(folder_ / name);
    }
    [[nodiscard]] Finished compare(const std::string& arguments) const {
        return run_espalier(folder_, "compare " + arguments);
    }
    static Change slower(int which, double factor) {
        return [=](int i, CaseRecord& record) {
            if (i == which)
                for (double& sample : record.samples_ns) sample *= factor;
        };
    }

    TemporaryFolder folder_;
};

TEST_F(CompareCommand, TheSameThingTwiceIsNoRegression) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const Finished finished = compare(sweep("a", 2 * seed) + " " + sweep("b", 2 * seed + 1) + " --threshold 0.5%");
        EXPECT_EQ(finished.code, 0) << finished.out;
    }
}

TEST_F(CompareCommand, ASlowerCaseIsNamedAndExitsWithFive) {
    const std::string before = sweep("a", 1), after = sweep("b", 2, slower(7, 2.5));
    const Finished finished = compare(before + " " + after);
    EXPECT_EQ(finished.code, 5);
    expect_holds(finished.out, {"slower   2.", "bytes=1007", "20 cases compared: 1 slower, 0 faster, 0 broken"});
    const Finished backwards = compare(after + " " + before);
    EXPECT_EQ(backwards.code, 0) << "faster is no regression";
    expect_holds(backwards.out, {"faster   0.4"});
    const auto json = nlohmann::json::parse(compare(before + " " + after + " --json").out);
    const auto& worst = json.at("cases").at(0);
    EXPECT_NEAR(worst.at("ratio"), 2.5, 0.03);
    EXPECT_LT(worst.at("interval").at(0), worst.at("ratio"));
    EXPECT_GT(worst.at("interval").at(1), worst.at("ratio"));
    EXPECT_TRUE(json.at("regression"));
}

TEST_F(CompareCommand, ABrokenCaseIsARegressionAndAPeersIsNot) {
    const auto broken = [](int i, CaseRecord& record) {
        if (i != 3) return;
        record.status = Status::wrong;
        record.reason = "value 3 is \x1b[31m4";
        record.samples_ns.clear();
    };
    const Finished finished = compare(sweep("a", 1) + " " + sweep("b", 2, broken));
    EXPECT_EQ(finished.code, 5);
    expect_holds(finished.out, {"broken", "bytes=1003", "wrong: value 3"});
    EXPECT_EQ(finished.out.find('\x1b'), std::string::npos);
    const auto peer = [](int i, CaseRecord& record) {
        if (i == 3) record.role = "peer";
    };
    const auto slow_peer = [&](int i, CaseRecord& record) {
        peer(i, record);
        slower(3, 2)(i, record);
    };
    EXPECT_EQ(compare(sweep("a", 1, peer) + " " + sweep("b", 2, slow_peer)).code, 0);
}

TEST_F(CompareCommand, WhatIsNotComparableIsRefused) {
    const std::string before = sweep("a", 1);
    const auto refused = [&](const Change& change, std::initializer_list<const char*> parts) {
        const std::string after = sweep("b", 2, change);
        const Finished finished = compare(before + " " + after);
        EXPECT_EQ(finished.code, 4) << finished.out;
        expect_holds(finished.err, parts);
        return after;
    };
    const auto driver = refused([](int, CaseRecord& r) { r.provenance.driver = "Linux 7"; }, {"--allow drivers"});
    EXPECT_EQ(compare(before + " " + driver + " --allow drivers").code, 0);
    refused([](int, CaseRecord& r) { r.provenance.build = "Debug"; }, {"Debug", "--allow builds"});
    refused([](int i, CaseRecord& r) { r.provenance.build = i == 1 ? "Debug" : r.provenance.build; }, {"2 builds"});
    refused([](int, CaseRecord& r) { r.provenance.cache = "cold"; }, {"--allow caches"});
    refused([](int, CaseRecord& r) { r.time_ns = 0; }, {"implausible"});
    refused([](int, CaseRecord& r) { r.problem += "0"; }, {"no case in common"});
    DeviceInfo other = sample_device();
    other.key = "cpu-other-2t";
    const Finished finished = compare(before + " " + sweep("c", 2, {}, other));
    EXPECT_EQ(finished.code, 4);
    expect_holds(finished.err, {"cpu-test-2t", "cpu-other-2t", "different devices"});
    EXPECT_EQ(compare(before + " " + quoted(folder_ / "nowhere")).code, 4);
}

TEST_F(CompareCommand, OtherFilesAreNamedInFewLines) {
    std::string lines;
    for (int i = 0; i < 1000; ++i) lines += std::to_string(i) + "\n";
    const std::string other = quoted(folder_.file("other.csv", lines));
    for (const std::string& command : {"compare " + other + " " + other, "show " + other}) {
        const Finished finished = run_espalier(folder_, command);
        EXPECT_EQ(finished.code, 4);
        expect_holds(finished.err, {"other.csv", "and 990 more warnings: espalier verify"});
        EXPECT_LT(std::count(finished.err.begin(), finished.err.end(), '\n'), 15);
    }
    const Finished merged = run_espalier(folder_, "merge " + other + " --results " + quoted(folder_ / "results"));
    EXPECT_EQ(merged.code, 4);
    expect_holds(merged.err, {"nothing is merged", "no complete record", "espalier verify"});
}

TEST_F(CompareCommand, APageShowsRegressionsFirst) {
    const auto change = [](int i, CaseRecord& record) {
        slower(3, 0.3)(i, record);
        slower(5, 3.5)(i, record);
        slower(7, 2.8)(i, record);
        if (i != 9) return;
        record.status = Status::wrong;
        record.reason = "</td><script>alert(1)</script>";
        record.samples_ns.clear();
    };
    const std::string sides = sweep("a", 1) + " " + sweep("b", 2, change);
    const Finished finished = compare(sides + " --html " + quoted(folder_ / "c.html"));
    EXPECT_EQ(finished.code, 5) << finished.err;
    expect_holds(finished.out, {"19 cases compared: 2 slower, 1 faster, 1 broken"});
    const std::string page = read_bytes(folder_ / "c.html");
    expect_holds(page, {"Regression", "bytes=1009", "&lt;script&gt;alert(1)", "default-src &#39;none&#39;"});
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    std::size_t at = 0;
    for (const char* next : {"bytes=1009", "bytes=1005", "bytes=1007", "bytes=1003", "bytes=1000"}) {
        const std::size_t found = page.find(next);
        ASSERT_NE(found, std::string::npos) << next;
        EXPECT_GT(found, at) << next;
        at = found;
    }
    EXPECT_EQ(compare(sweep("a", 1) + " " + sweep("c", 2) + " --html " + quoted(folder_ / "c.html")).code, 0);
    expect_holds(read_bytes(folder_ / "c.html"), {"No regression", "20 cases"});
}

TEST_F(CompareCommand, APageThatCannotBeWrittenSaysWhy) {
    const std::string sides = sweep("a", 1) + " " + sweep("b", 2);
    const Finished over = compare(sides + " --html " + quoted(folder_ / "a/device.json"));
    EXPECT_EQ(over.code, 2) << over.out;
    expect_holds(over.err, {"--html", "device.json"});
    const Finished without = run_espalier(folder_, "compare " + sides + " --html " + quoted(folder_ / "c.html"),
                                          "ESPALIER_PYTHON=/nowhere/python3 ");
    EXPECT_EQ(without.code, 2);
    expect_holds(without.err, {"python3-jinja2", "ESPALIER_PYTHON"});
    EXPECT_FALSE(std::filesystem::exists(folder_ / "c.html"));
}

class CompareSessions : public CompareCommand {
protected:
    /// A sweep of a synthetic machine: four families of four variants on ten problems.
    [[nodiscard]] std::string session(unsigned seed, double factor = 1, double foreign_share = 0) const {
        synthetic::Machine machine;
        machine.slower["family_1/variant_2"] = factor;
        ComparedSweep sweep = machine.sweep(seed);
        for (CaseRecord& record : sweep.results.cases)
            record.conditions = {.foreign_cpu_share = foreign_share, .processors = 2};
        const std::string folder = folder_ / std::to_string(seed);
        save_results(folder, sweep.results);
        return quoted(folder);
    }
    [[nodiscard]] std::string sessions(std::initializer_list<unsigned> seeds, double factor = 1) const {
        std::string all;
        for (const unsigned seed : seeds) all += session(seed, factor) + " ";
        return all;
    }
};

TEST_F(CompareSessions, SeveralASideFindASlowerVariant) {
    const std::string before = sessions({1, 2, 3});
    const Finished slower = compare(before + "-- " + sessions({4, 5, 6}, 1.1) + "--json");
    EXPECT_EQ(slower.code, 5) << slower.err;
    const auto json = nlohmann::json::parse(slower.out);
    EXPECT_EQ(json.at("sessions"), nlohmann::json({3, 3}));
    EXPECT_EQ(json.at("noise").at("from"), "repetitions");
    const auto& worst = json.at("variants").at(0);
    EXPECT_EQ(worst.at("variant"), "family_1/variant_2");
    EXPECT_EQ(worst.at("verdict"), "slower");
    EXPECT_NEAR(worst.at("ratio"), 1.1, 0.03);
    EXPECT_EQ(compare(before + "-- " + sessions({4, 5, 6}, 1.1) + "--threshold 20%").code, 0);
    const Finished same = compare("--all " + before + "-- " + sessions({14, 15, 16}));
    EXPECT_EQ(same.code, 0) << same.out;
    expect_holds(same.out, {"the machine as a whole: ", "not counted", "3 sessions before, 3 after", "16 variants"});
}

TEST_F(CompareSessions, FiltersAskForSomeCases) {
    const std::string sides = session(1) + " " + session(4, 1.1);
    const auto compared = [&](const std::string& filter) {
        return nlohmann::json::parse(compare(sides + " " + filter + " --json").out).at("compared").get<int>();
    };
    EXPECT_EQ(compared(""), 240);
    EXPECT_EQ(compared("--filter 'family_1/'"), 60);
    EXPECT_EQ(compared("-p size=1000,2000"), 48);
    EXPECT_EQ(compared("-p size=1000:3000 --filter variant_0"), 12);
    EXPECT_EQ(nlohmann::json::parse(compare("--filter variant_0 " + sides + " --json").out).at("compared"), 40);
    const Finished mistyped = compare(sides + " -p sice=1000");
    EXPECT_EQ(mistyped.code, 4);
    expect_holds(mistyped.err, {"no problem has an axis 'sice'", "did you mean 'size'"});
    const Finished none = compare(sides + " -p size=77");
    EXPECT_EQ(none.code, 4);
    expect_holds(none.err, {"no case of that kind"});
    EXPECT_EQ(compare(sides + " --filter '['").code, 2);
    EXPECT_EQ(compare(sides + " --family histogran").code, 2);
}

TEST_F(CompareSessions, DisturbedCasesAreNamedInAWarning) {
    const std::string quiet = session(1), busy = session(2, 1, 0.6), also_busy = session(3, 1, 0.6);
    const Finished nothing = compare(quiet + " " + busy);
    EXPECT_EQ(nothing.code, 4) << nothing.out;
    expect_holds(nothing.err, {"240 cases were measured while other programs used 60%", "--allow-disturbed"});
    const Finished some = compare(quiet + " -- " + session(4) + " " + busy);
    EXPECT_EQ(some.code, 0) << some.out;
    expect_holds(some.err, {"other programs used 60% of the processors: 240 measurements; 0 cases have no other"});
    const Finished single = compare(quiet + " " + busy + " --allow-disturbed");
    EXPECT_EQ(single.code, 4);
    expect_holds(single.err, {"several sessions a side"});
    const Finished allowed = compare(quiet + " -- " + busy + " " + also_busy + " --allow-disturbed");
    EXPECT_EQ(allowed.code, 0) << allowed.err;
    expect_holds(allowed.out, {"240 cases compared"});
}

TEST_F(CompareSessions, MisuseIsExplained) {
    const std::string a = session(1), b = session(2), c = session(3);
    const auto refused = [&](const std::string& arguments, int code, std::initializer_list<const char*> parts) {
        const Finished finished = compare(arguments);
        EXPECT_EQ(finished.code, code) << arguments;
        expect_holds(finished.err, parts);
    };
    refused("", 2, {"sweeps"});
    refused(a, 2, {"1 to compare", "A1 A2 -- B1 B2"});
    refused(a + " " + b + " " + c, 2, {"3 to compare", "A1 A2 -- B1 B2"});
    refused(a + " " + b + " --", 2, {"no sweep after --"});
    refused("-- " + a + " " + b, 2, {"no sweep before --"});
    refused(a + " -- " + b + " -- " + c, 2, {"-- is there twice"});
    refused(a + " " + a, 4, {"hold the same measurements", "each sweep once"});
    refused(a + " " + b + " -- " + c + " " + a, 4, {"hold the same measurements"});
    refused(a + " " + b + " --treshold 1%", 2, {"did you mean '--threshold'"});
    refused(a + " -- " + b + " --treshold 1%", 2, {"did you mean '--threshold'"});
}

TEST_F(CompareSessions, APageShowsVariantsAndTheMachine) {
    const Finished finished =
        compare(sessions({1, 2}) + "-- " + sessions({4, 5}, 1.5) + "--html " + quoted(folder_ / "c.html"));
    EXPECT_EQ(finished.code, 5) << finished.err;
    const std::string page = read_bytes(folder_ / "c.html");
    expect_holds(page, {"The machine as a whole", "Variant by variant", "family_1/variant_2", "2 and 2 sessions"});
    EXPECT_LT(page.find("family_1/variant_2"), page.find("family_0/variant_0")) << "slower ones come first";
}

TEST_F(CompareCommand, JournalsAreComparedAsTheyWouldBeMerged) {
    CaseRecord record = sample_record();
    for (const char* name : {"a.jsonl", "b.jsonl"}) {
        JournalWriter writer(folder_ / name);
        writer.append(sample_device());
        writer.append(std::vector{record});
        record.provenance.session = "20260102T000000Z-00000000";
    }
    EXPECT_EQ(compare(quoted(folder_ / "a.jsonl") + " " + quoted(folder_ / "b.jsonl")).code, 0);
}

}  // namespace
}  // namespace espalier::bench
