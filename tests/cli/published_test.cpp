// `espalier sweep --suite published`: what the source documents printed, as cases of the families.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "harness/base/files/read_file.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/records/results.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

nlohmann::json read_json(const char* name) {
    return nlohmann::json::parse(read_file(fs::path(ESPALIER_RESULTS) / "published" / name).value());
}

class Published : public testing::TestWithParam<const Family*> {};

INSTANTIATE_TEST_SUITE_P(Every, Published, testing::ValuesIn(families().begin(), families().end()),
                         [](const auto& instance) { return std::string(instance.param->name()); });

TEST_P(Published, ProblemsAreKeys) {
    for (const PublishedProblem& entry : GetParam()->published())
        EXPECT_EQ(GetParam()->canonical(entry.problem), entry.problem);
}

TEST_P(Published, EveryChoiceIsOneOfTheFamily) {
    for (const PublishedProblem& entry : GetParam()->published())
        for (const std::string_view choice : entry.choices) {
            const std::size_t found = GetParam()->find(choice.substr(0, choice.find(':')));
            ASSERT_NE(found, Family::npos) << choice;
            const VariantInfo& variant = GetParam()->variants()[found];
            EXPECT_TRUE(!variant.foreign.empty() ||
                        std::ranges::any_of(with_pinned(variant),
                                            [&](const Configuration& c) { return is_choice(choice, variant.name, c); }))
                << choice << " of " << entry.tables;
        }
}

TEST(PublishedChoice, NamesAVariantAndSettings) {
    const Configuration configuration{{"chunks", 8}, {"pinned", 1}};
    EXPECT_TRUE(is_choice("synchronous", "synchronous", configuration));
    EXPECT_TRUE(is_choice("synchronous:chunks=8", "synchronous", configuration));
    EXPECT_TRUE(is_choice("synchronous:pinned=1;chunks=8", "synchronous", configuration));
    EXPECT_FALSE(is_choice("synchronous:chunks=8;pinned=0", "synchronous", configuration));
    EXPECT_FALSE(is_choice("synchronous:chunks=80", "synchronous", configuration));
    EXPECT_FALSE(is_choice("synchronous", "asynchronous", configuration));
}

TEST(PublishedChoice, MeansPinnedStagesThatItNames) {
    const Configuration own{{"chunks", 8}}, pinned{{"chunks", 8}, {"distance.global", 1}};
    EXPECT_FALSE(is_choice("asynchronous", "asynchronous", pinned));
    EXPECT_FALSE(is_choice("asynchronous:chunks=8", "asynchronous", pinned));
    EXPECT_TRUE(is_choice("asynchronous:chunks=8;distance.global=1", "asynchronous", pinned));
    EXPECT_FALSE(is_choice("asynchronous:chunks=8;distance.global=1", "asynchronous", own));
    EXPECT_FALSE(is_choice("asynchronous:distance.texture_1d=1", "asynchronous", pinned));
}

/// Documented variants are those that the sources describe: each is measured on a problem of theirs.
TEST(PublishedTables, EveryDocumentedVariantIsMeasured) {
    for (const Family* family : families()) {
        const auto published = family->published();
        for (const VariantInfo& variant : family->variants()) {
            if (variant.role != Role::documented || !variant.foreign.empty()) continue;
            EXPECT_TRUE(std::ranges::any_of(
                published,
                [&](const PublishedProblem& entry) {
                    return std::ranges::any_of(variant.configurations, [&](const Configuration& configuration) {
                        return !tables_with(published, entry.problem, variant.name, configuration).empty();
                    });
                }))
                << family->name() << "/" << variant.name;
        }
    }
}

/// Every printed table is in the suite, or is measured by whole commands, or is named among what has no counterpart.
TEST(PublishedTables, EachHasItsCounterpart) {
    std::set<std::string> covered;
    for (const Family* family : families())
        for (const PublishedProblem& entry : family->published())
            for (const std::string& table : words_of(entry.tables)) covered.insert(table);
    const auto counterparts = read_json("counterparts.json");
    for (const auto* list : {"applications", "none"})
        for (const auto& [table, why] : counterparts.at(list).items()) {
            EXPECT_FALSE(why.get<std::string>().empty()) << table;
            EXPECT_TRUE(covered.insert(table).second) << table << " is in the suite, too";
        }
    const auto printed = read_json("tables.json");
    for (const auto& table : printed.at("tables"))
        EXPECT_TRUE(covered.contains(table.at("id"))) << table.at("id") << " has no counterpart and nothing says why";
}

class PublishedSweep : public testing::Test {
protected:
    [[nodiscard]] Finished sweep(const std::string& more) const {
        return run_espalier(folder_,
                            "sweep --suite published --device cpu --quick --noise 20% --no-ceilings "
                            "--output " +
                                quoted(folder_ / "journal") + " --results " + quoted(folder_ / "results") + " " + more);
    }

    TemporaryFolder folder_;
};

TEST_F(PublishedSweep, DryRunListsTheSuitesCases) {
    const Finished listed = run_espalier(folder_, "list --suite published --json");
    ASSERT_EQ(listed.code, 0) << listed.err;
    std::set<std::string> expected;
    for (const auto& entry : nlohmann::json::parse(listed.out))
        if (entry.at("device") == "cpu")
            expected.insert(entry.at("family").get<std::string>() + "/" + entry.at("variant").get<std::string>() + "|" +
                            entry.at("problem").get<std::string>() + "|" +
                            entry.at("configuration").get<std::string>());
    const Finished dry = sweep("--dry-run");
    ASSERT_EQ(dry.code, 0) << dry.err;
    std::istringstream lines(dry.out);
    std::set<std::string> planned;
    for (std::string line; std::getline(lines, line);) planned.insert(line);
    EXPECT_FALSE(planned.empty());
    EXPECT_EQ(planned, expected);
}

TEST_F(PublishedSweep, MeasuresTheSuiteApart) {
    const Finished swept = sweep("--family histogram --variant cpu_openmp --seconds 1s");
    ASSERT_EQ(swept.code, 0) << swept.err;
    const fs::path published = fs::path(folder_ / "results") / "published";
    const DeviceResults results = load_results(fs::directory_iterator(published)->path());
    std::set<std::string> measured;
    for (const CaseRecord& record : results.cases) {
        EXPECT_EQ(record.status, Status::ok) << record.problem;
        EXPECT_EQ(record.counters_reason, "hardware counters are collected on GPUs only");
        measured.insert(record.problem);
    }
    const auto problems = published_problems(*find_family("histogram"), DeviceKind::cpu);
    EXPECT_EQ(measured, std::set(problems.begin(), problems.end()));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "results"), {}), 1) << "nothing beside it is written";
}

TEST_F(PublishedSweep, TablesAreChosenByName) {
    const Finished dry = sweep("--dry-run --table K-cpu,H-data");
    ASSERT_EQ(dry.code, 0) << dry.err;
    EXPECT_NE(dry.out.find("distance/cpu_scalar|queries=1000;points=1000"), std::string::npos) << dry.out;
    EXPECT_NE(dry.out.find("histogram/cpu_openmp|"), std::string::npos) << dry.out;
    EXPECT_EQ(dry.out.find("knn/"), std::string::npos) << dry.out;
}

TEST_F(PublishedSweep, LeavesNoPlaceForAxes) {
    const Finished swept = sweep("-p elements=1000");
    EXPECT_EQ(swept.code, 2);
    expect_holds(swept.err, {"--problem and --suite exclude each other"});
}

}  // namespace
}  // namespace espalier::bench
