// `espalier sweep --drawn`: problems of the families' domains instead of the grids.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "harness/bench/families/domain.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/results.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

class DrawnSweeping : public testing::Test {
protected:
    [[nodiscard]] Finished sweep(const std::string& more) const {
        return run_espalier(
            folder_, "sweep --device cpu --family dot --quick --noise 20% --counters off --no-ceilings --output " +
                         quoted(folder_ / "journal") + " --results " + quoted(folder_ / "results") + " " + more);
    }
    /// The only device's results.
    [[nodiscard]] DeviceResults results() const {
        return load_results(fs::directory_iterator(folder_ / "results")->path());
    }

    TemporaryFolder folder_;
};

TEST_F(DrawnSweeping, MeasuresProblemsOfTheDomain) {
    const Finished swept = sweep("--drawn 3");
    ASSERT_EQ(swept.code, 0) << swept.err;
    std::set<std::string> measured;
    for (const CaseRecord& record : results().cases)
        if (record.status == Status::ok) measured.insert(record.problem);
    const auto drawn = draw_problems(*find_family("dot"), DeviceKind::cpu, 1, Stream::sweep, 3);
    EXPECT_EQ(measured, std::set(drawn.begin(), drawn.end()));
}

TEST_F(DrawnSweeping, ATimelineHasTheLastProblemToo) {
    const Finished swept = run_espalier(
        folder_, "--timeline " + quoted(folder_ / "timeline.json") +
                     " sweep --device cpu --family dot --variant cpu_openmp -p elements=4096 --seconds 0.1 --noise 20% "
                     "--counters off --no-ceilings --no-merge --output " +
                     quoted(folder_ / "journal"));
    ASSERT_EQ(swept.code, 0) << swept.err;
    std::ifstream file(folder_ / "timeline.json");
    const std::string timeline{std::istreambuf_iterator<char>(file), {}};
    expect_holds(timeline, {R"("cat":"range")", "dot/cpu_openmp"});
}

TEST_F(DrawnSweeping, EndsWhereItsTimeEndsAndMissesNothing) {
    const Finished swept = sweep("--drawn 2000 --max-time 2s");
    ASSERT_EQ(swept.code, 0) << swept.err;
    const DeviceResults found = results();
    EXPECT_TRUE(found.missing.empty()) << found.missing.front().description;
    std::set<std::string> reached, measured;
    for (const CaseRecord& record : found.cases) {
        reached.insert(record.problem);
        if (record.status == Status::ok) measured.insert(record.problem);
    }
    EXPECT_LT(reached.size(), 2000U) << "nothing was cut";
    EXPECT_EQ(reached, measured) << "what the time did not suffice for is recorded";
}

TEST_F(DrawnSweeping, AVariantThatComesLaterIsMeasuredOnWhatIsRecorded) {
    const Finished nothing = sweep("--suite recorded");
    EXPECT_EQ(nothing.code, 4);
    expect_holds(nothing.err, {"there are no results of cpu-", "sweep without --suite"});
    ASSERT_EQ(sweep("--drawn 3 --variant cpu_scalar").code, 0);
    const Finished later = sweep("--suite recorded --variant dot/cpu_openmp --resume");
    ASSERT_EQ(later.code, 0) << later.err;
    std::map<std::string, std::set<std::string>> measured;
    for (const CaseRecord& record : results().cases) measured[record.variant].insert(record.problem);
    EXPECT_EQ(measured["cpu_scalar"].size(), 3U);
    EXPECT_EQ(measured["cpu_openmp"], measured["cpu_scalar"]);
}

TEST_F(DrawnSweeping, RecordsSayWhatTheCachesHeld) {
    for (const char* const caches : {"warm", "cold", "clean"}) {
        const Finished swept =
            sweep("-p elements=4096 --variant cpu_openmp --no-merge --seconds 0.1 --max-time 20s --cache " +
                  std::string(caches));
        ASSERT_EQ(swept.code, 0) << swept.err;
    }
    std::multiset<std::string> held;
    const fs::path journal = fs::directory_iterator(folder_ / "journal")->path();
    for (const CaseRecord& record : load_journal(journal).cases) held.insert(record.provenance.cache);
    EXPECT_EQ(held.count("warm"), held.count("clean"));
    EXPECT_EQ(held.count("cold"), held.count("clean"));
    EXPECT_GT(held.count("clean"), 0U);
    EXPECT_EQ(sweep("--cache hot").code, 2);
}

TEST_F(DrawnSweeping, LeavesNoPlaceForAxes) {
    const Finished swept = sweep("--drawn 20 -p elements=1000");
    EXPECT_EQ(swept.code, 2);
    expect_holds(swept.err, {"--problem and --drawn exclude each other"});
}

}  // namespace
}  // namespace espalier::bench
