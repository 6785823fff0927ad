// `espalier sweep --adaptive` as a user runs it, to the selector and back to the whole grid.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/records/journal.hpp"
#include "harness/records/results.hpp"
#include "tests/run_program.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

/// A grid of 20 problems of a family with few variants on a CPU, and imprecise.
constexpr const char* kGrid =
    "--device cpu --family smallest_k --quick --noise 20% --counters off --no-ceilings "
    "-p rows=1,4,16,64,256 -p columns=100,1000 -p k=1,10 ";

class AdaptiveSweeping : public testing::Test {
protected:
    [[nodiscard]] Finished sweep(const std::string& more) const {
        return run_espalier(folder_, "sweep " + std::string(kGrid) + "--output " + quoted(folder_ / "journal") +
                                         " --results " + quoted(results_) + " " + more);
    }
    [[nodiscard]] Finished train(const std::string& more = "") const {
        return run_espalier(folder_, "train --predicted 200 --results " + quoted(results_) + " --output " +
                                         quoted(folder_ / "selectors") + " " + more);
    }
    /// The only device's folder.
    [[nodiscard]] fs::path results() const { return fs::directory_iterator(results_)->path(); }
    [[nodiscard]] std::map<Status, std::size_t> statuses() const {
        std::map<Status, std::size_t> count;
        for (const CaseRecord& record : load_results(results()).cases) {
            ++count[record.status];
            if (record.status != Status::not_measured) continue;
            EXPECT_EQ(record.reason, kNotAskedFor);
        }
        return count;
    }
    [[nodiscard]] std::size_t ok() const { return statuses()[Status::ok]; }
    /// Cases that were not measured, of choices that were measured elsewhere: the others cannot be imputed.
    [[nodiscard]] std::size_t imputable() const {
        std::set<std::string> measured;
        const auto cases = load_results(results()).cases;
        const auto choice_of = [](const CaseRecord& record) { return record.variant + " " + record.configuration; };
        for (const CaseRecord& record : cases)
            if (record.status == Status::ok) measured.insert(choice_of(record));
        return static_cast<std::size_t>(std::ranges::count_if(cases, [&](const CaseRecord& record) {
            return record.status == Status::not_measured && measured.contains(choice_of(record));
        }));
    }
    [[nodiscard]] nlohmann::json selector() const {
        return nlohmann::json::parse(read_bytes((results() / "selector.json").string()))["families"]["smallest_k"];
    }

    TemporaryFolder folder_;
    const std::string results_ = folder_ / "results";
};

TEST_F(AdaptiveSweeping, MeasuresAPartAndTrainsOnAllOfIt) {
    const auto swept = sweep("--adaptive=40%");
    ASSERT_EQ(swept.code, 0) << swept.err;
    const DeviceResults found = load_results(results());
    EXPECT_TRUE(found.missing.empty()) << found.missing.front().description;
    auto count = statuses();
    EXPECT_GE(count[Status::ok], 6U);
    EXPECT_GT(count[Status::not_measured], count[Status::ok]);
    const auto verified = run_espalier(folder_, "verify " + quoted(folder_ / "journal") + " " + quoted(results_));
    EXPECT_EQ(verified.code, 0) << verified.out << verified.err;

    const auto trained = train();
    ASSERT_EQ(trained.code, 0) << trained.err;
    expect_holds(trained.err, {"times are imputed by forests"});
    const auto entry = selector();
    EXPECT_EQ(entry.at("guessed_times"), imputable());
    EXPECT_TRUE(entry.at("held_out").is_null());
    EXPECT_LE(entry.at("problems"), count[Status::ok]);
    const fs::path source = fs::path(folder_ / "selectors/smallest_k") / (results().filename().string() + ".tree");
    expect_holds(read_bytes(source.string()), {"\"family\": \"smallest_k\"", "\"guessed_times\": "});
    EXPECT_EQ(train("--check").code, 0) << "the same records give the same bytes";
    EXPECT_NE(train("--strict").code, 0);
}

TEST_F(AdaptiveSweeping, IsFinishedByAWholeOne) {
    ASSERT_EQ(sweep("--adaptive").code, 0);
    const std::size_t few = ok();
    // Nothing is left to do of the same share; more of a larger one.
    ASSERT_EQ(sweep("--adaptive --resume").code, 0);
    EXPECT_EQ(ok(), few);
    ASSERT_EQ(sweep("--adaptive=60% --resume").code, 0);
    const std::size_t more = ok();
    EXPECT_GT(more, few);
    ASSERT_EQ(sweep("--resume").code, 0);
    EXPECT_GT(ok(), more);
    EXPECT_EQ(statuses()[Status::not_measured], 0U);
    const auto trained = train();
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_EQ(trained.err.find("imputed"), std::string::npos);
    EXPECT_FALSE(selector().contains("guessed_times"));
}

TEST_F(AdaptiveSweeping, EndsWhenItsTimeIsUp) {
    const auto swept = sweep("--adaptive=90% --max-time 2s --json");
    ASSERT_EQ(swept.code, 0) << swept.err;
    const auto summary = nlohmann::json::parse(swept.out).at(0);
    EXPECT_FALSE(summary.at("unfinished").get<bool>());
    EXPECT_LT(summary.at("wall_seconds"), 20);
    EXPECT_TRUE(load_results(results()).missing.empty());
}

TEST_F(AdaptiveSweeping, SaysBeforehandThatItTakesLess) {
    ASSERT_EQ(sweep("").code, 0);
    const auto expected = [&](const std::string& more) {
        const auto dry = run_espalier(folder_, "sweep " + std::string(kGrid) + "--dry-run --json --output " +
                                                   quoted(folder_ / "none") + " --results " + quoted(results_) + more);
        return nlohmann::json::parse(dry.out).at(0)["expected_seconds"].get<double>();
    };
    EXPECT_LT(expected(" --adaptive=20%"), expected(""));
    EXPECT_GT(expected(" --adaptive=20%"), 0);
}

TEST_F(AdaptiveSweeping, RefusesWhatIsNoShare) {
    for (const char* share : {"0", "150%", "much", "-10%"}) {
        const auto swept = sweep(std::string("--adaptive=") + share);
        EXPECT_EQ(swept.code, 2) << share;
        expect_holds(swept.err, {"--adaptive", share});
    }
}

}  // namespace
}  // namespace espalier::bench
