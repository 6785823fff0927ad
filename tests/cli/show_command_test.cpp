// `espalier show`: winners of journals and of results, and what it may be asked for.

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/merge.hpp"
#include "tests/support/record_samples.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

CaseRecord timed(const char* variant, int bytes, double time_ns) {
    CaseRecord record = sample_record();
    record.variant = variant;
    record.bytes = record.ops = 1;  // no roofline is in the way of the times
    record.floor_ns = 1;
    record.problem = "bytes=" + std::to_string(bytes) + ";distribution=uniform";
    record.features = {{"bytes", bytes}, {"distribution", 0}};
    record.samples_ns = {time_ns, time_ns, time_ns};
    record.time_ns = record.time_lo_ns = record.time_hi_ns = time_ns;
    return record;
}

class ShowCommand : public testing::Test {
protected:
    ShowCommand() {
        JournalWriter writer(folder_ / "journal/a.jsonl");
        writer.append(sample_device());
        std::vector<CaseRecord> records;
        for (const int bytes : {1000, 10'000, 20'000, 100'000}) {
            records.push_back(timed("fast", bytes, bytes * 10.0));
            records.push_back(timed("slow", bytes, bytes * 25.0));
        }
        writer.append(records);
    }

    [[nodiscard]] Finished show(const std::string& arguments) const {
        return run_espalier(folder_, "show " + quoted(folder_ / "journal") + " " + arguments);
    }

    /// The bytes of the problems shown, in their order.
    [[nodiscard]] std::vector<std::string> problems(const std::string& arguments) const {
        const auto finished = show("--json " + arguments);
        EXPECT_EQ(finished.code, 0) << finished.err;
        std::vector<std::string> list;
        for (const auto& winner : nlohmann::json::parse(finished.out)) {
            const auto problem = winner.at("problem").get<std::string>();
            list.push_back(problem.substr(6, problem.find(';') - 6));
        }
        return list;
    }

    TemporaryFolder folder_;
};

TEST_F(ShowCommand, WinnersWithTimesAndMargins) {
    const auto finished = show("");
    EXPECT_EQ(finished.code, 0) << finished.err;
    expect_holds(finished.out, {"distribution=uniform", "bytes=1000 ", "fast", "10 us", "2.50x slow"});
    const auto winner = nlohmann::json::parse(show("--json").out).at(0);
    EXPECT_EQ(winner.at("variant"), "fast");
    EXPECT_EQ(winner.at("next_variant"), "slow");
    EXPECT_DOUBLE_EQ(winner.at("next_slowdown"), 2.5);
}

TEST_F(ShowCommand, SameFromResults) {
    merge_journals({folder_ / "journal"}, folder_ / "results", {});
    const auto finished = run_espalier(folder_, "show " + quoted(folder_ / "results"));
    EXPECT_EQ(finished.out, show("").out);
}

TEST_F(ShowCommand, ValuesRangesAndSteps) {
    using Problems = std::vector<std::string>;
    EXPECT_EQ(problems("-p bytes=10000,20000"), (Problems{"10000", "20000"}));
    EXPECT_EQ(problems("-p bytes=1000:20000"), (Problems{"1000", "10000", "20000"}));
    EXPECT_EQ(problems("-p bytes=1000:1000000:x10"), (Problems{"1000", "10000", "100000"}));
    EXPECT_EQ(problems("-p bytes=0:20000:10000"), (Problems{"10000", "20000"}));
}

TEST_F(ShowCommand, FilterChoosesCases) {
    const auto winners = nlohmann::json::parse(show("--json --filter 'slow.*bytes=1000;'").out);
    ASSERT_EQ(winners.size(), 1U);
    EXPECT_EQ(winners.at(0).at("variant"), "slow");
}

/// A journal of one problem that each record is of.
std::string journal_of(const TemporaryFolder& folder, const std::vector<CaseRecord>& records) {
    const std::string path = folder / "other.jsonl";
    JournalWriter writer(path);
    writer.append(sample_device());
    writer.append(records);
    return path;
}

CaseRecord disturbed(CaseRecord record) {
    record.conditions = {.foreign_cpu_share = 0.48, .processors = 2};
    return record;
}

TEST_F(ShowCommand, ADisturbedCaseWinsNothing) {
    const std::string path = journal_of(
        folder_, {disturbed(timed("fast", 1000, 1e4)), timed("slow", 1000, 2e4), timed("slower", 1000, 3e4)});
    const auto finished = run_espalier(folder_, "show " + quoted(path));
    EXPECT_EQ(finished.code, 0) << finished.err;
    expect_holds(finished.out, {" slow ", "20 us", "1.50x slower"});
    EXPECT_EQ(finished.out.find("fast "), std::string::npos) << finished.out;
    expect_holds(finished.err,
                 {"1 of 1 problem was disturbed: other programs used 48% of the processors", "win nothing"});
    const auto winner = nlohmann::json::parse(run_espalier(folder_, "show --json " + quoted(path)).out).at(0);
    EXPECT_EQ(winner.at("variant"), "slow");
    EXPECT_EQ(winner.at("wins"), true);
    EXPECT_EQ(winner.at("disturbed"), "");
    EXPECT_EQ(winner.at("disturbed_cases"), 1);
    EXPECT_EQ(winner.at("next_variant"), "slower");
}

TEST_F(ShowCommand, WhereAllIsDisturbedNobodyWins) {
    std::vector<CaseRecord> records;
    for (const int bytes : {1000, 2000, 3000})
        for (const char* variant : {"fast", "slow"})
            records.push_back(disturbed(timed(variant, bytes, *variant == 'f' ? 1e4 : 2e4)));
    const std::string path = journal_of(folder_, records);
    const auto finished = run_espalier(folder_, "show " + quoted(path));
    EXPECT_EQ(finished.code, 0) << finished.err;
    expect_holds(finished.out, {"~fast", "~10 us", "wins nothing"});
    EXPECT_EQ(finished.out.find("2.00x"), std::string::npos) << finished.out;
    expect_holds(finished.err, {"3 of 3 problems were disturbed", "is not known", "on a quiet machine"});
    const auto winners = nlohmann::json::parse(run_espalier(folder_, "show --json " + quoted(path)).out);
    ASSERT_EQ(winners.size(), 3U);
    EXPECT_EQ(winners.at(0).at("wins"), false);
    EXPECT_EQ(winners.at(0).at("disturbed"), "programs");
    EXPECT_FALSE(winners.at(0).contains("next_variant"));
}

struct Shown {
    const char* name;
    std::size_t samples;
    double lo_ns, hi_ns;
    const char* text;
    bool interval;
};

class ShownInterval : public ShowCommand, public testing::WithParamInterface<Shown> {};

TEST_P(ShownInterval, IsOneOrIsNotPrinted) {
    CaseRecord record = timed("fast", 1000, 6809);
    record.samples_ns.assign(GetParam().samples, 6809);
    record.time_lo_ns = GetParam().lo_ns, record.time_hi_ns = GetParam().hi_ns;
    const std::string path = journal_of(folder_, {record});
    const auto finished = run_espalier(folder_, "show " + quoted(path));
    expect_holds(finished.out, {GetParam().text});
    EXPECT_EQ(finished.out.find("+-") != std::string::npos, GetParam().interval) << finished.out;
    const auto winner = nlohmann::json::parse(run_espalier(folder_, "show --json " + quoted(path)).out).at(0);
    EXPECT_EQ(winner.at("interval_ns").is_array(), GetParam().interval);
    EXPECT_EQ(winner.at("interval_ns").is_null(), !GetParam().interval);
    EXPECT_EQ(winner.at("samples"), GetParam().samples);
}

INSTANTIATE_TEST_SUITE_P(Cases, ShownInterval,
                         testing::Values(Shown{"narrow", 8, 6775, 6843, "+-0.5%", true},
                                         Shown{"five", 5, 6775, 6843, "too few samples", false},
                                         Shown{"one", 1, 6809, 6809, "too few samples", false},
                                         Shown{"wild", 9, 6700, 16.04e6, "6.7 us to 16.04 ms", false}),
                         [](const auto& shown) { return std::string(shown.param.name); });

TEST_F(ShowCommand, ATimeAtTheResolutionIsABound) {
    CaseRecord record = timed("fast", 1000, 800);
    record.conditions = {.resolution_ns = 800};
    expect_holds(run_espalier(folder_, "show " + quoted(journal_of(folder_, {record}))).out, {"<= 800 ns"});
}

TEST_F(ShowCommand, FiltersTakeLinearTime) {
    for (const char* filter : {"(.*)*x", "(a+)+$x", "(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y"}) {
        const auto start = std::chrono::steady_clock::now();
        EXPECT_EQ(show(std::string("--filter '") + filter + "'").code, 4) << filter;
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << filter;
    }
    EXPECT_EQ(show("--filter '(.*)*s'").code, 0);
}

TEST_F(ShowCommand, MistakesNameTheFix) {
    const std::pair<const char*, int> mistakes[] = {
        {"--filter '('", 2}, {"-p bytes", 2}, {"-p bytes=9:1", 2}, {"-p bytes=1:9:x1", 2}, {"-p bytes=7", 4}};
    expect_holds(show("-p byts=1000").err, {"no problem has an axis 'byts'", "did you mean 'bytes'?"});
    for (const auto& [arguments, code] : mistakes) EXPECT_EQ(show(arguments).code, code) << arguments;
}

}  // namespace
}  // namespace espalier::bench
