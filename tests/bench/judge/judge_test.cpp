// Grading picks by records whose regrets are known.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include "harness/bench/families/domain.hpp"
#include "harness/bench/judge/choices.hpp"
#include "harness/bench/judge/over_data.hpp"
#include "harness/bench/judge/to_count.hpp"
#include "harness/bench/judge/unseen.hpp"
#include "harness/bench/records/results.hpp"
#include "kernels/dispatch/families.hpp"
#include "tests/bench/train/evidence_devices.hpp"

namespace espalier::bench::learn {
namespace {

CaseRecord record(const std::string& problem, const std::string& variant, double time_ns, Status status = Status::ok) {
    CaseRecord made{
        .family = "dot", .variant = variant, .role = "modern", .problem = problem, .configuration = "default"};
    made.status = status;
    if (status != Status::ok) made.reason = "made up";
    made.time_ns = made.time_lo_ns = made.time_hi_ns = status == Status::ok ? time_ns : 0;
    return made;
}

Pick first(const std::string&) { return {"a", "default"}; }

const Verdict& verdict_on(const std::vector<Verdict>& verdicts, const std::string& problem) {
    return *std::ranges::find(verdicts, problem, &Verdict::problem);
}

TEST(Judge, FiguresAreThoseOfTheRegrets) {
    std::vector<CaseRecord> records;
    for (int i = 0; i < 4; ++i) records.push_back(record("elements=" + std::to_string(i), "a", 100));
    records.push_back(record("elements=0", "b", 200));
    records.push_back(record("elements=1", "b", 50));    // regret 2
    records.push_back(record("elements=2", "b", 12.5));  // regret 8
    const auto verdicts = grade(records, first);
    ASSERT_EQ(verdicts.size(), 4U);
    const Grades grades = grades_of(verdicts);
    EXPECT_EQ(grades.regret.problems, 4);
    EXPECT_NEAR(grades.regret.geomean, 2, 1e-12);  // of 1, 2, 8 and 1
    EXPECT_NEAR(grades.regret.worst, 8, 1e-12);
    EXPECT_NEAR(grades.regret.p90, 8, 1e-12);
    EXPECT_NEAR(grades.p99, 8, 1e-12);
    EXPECT_NEAR(grades.time_weighted, 400 / 262.5, 1e-12);
    EXPECT_DOUBLE_EQ(grades.exact_share, 0.5);
    EXPECT_EQ(verdicts[grades.worst].problem, "elements=2");
    EXPECT_EQ(verdicts[grades.worst].best_variant, "b");
    EXPECT_EQ(grades.failed + grades.unjudged, 0U);
    EXPECT_LE(grades.regret.geomean_interval.lo, 2);
    EXPECT_GE(grades.regret.geomean_interval.hi, 2);
    std::vector<CaseRecord> reversed(records.rbegin(), records.rend());
    EXPECT_EQ(grades_of(grade(reversed, first)).regret.geomean_interval.lo, grades.regret.geomean_interval.lo);
}

TEST(Judge, TimesAreAveragedOverData) {
    const Family& family = *find_family("histogram");
    const auto of = [](const char* data, const char* variant, double time_ns, Status status = Status::ok) {
        return record(std::string("bytes=1000;distribution=") + data, variant, time_ns, status);
    };
    std::vector<CaseRecord> records{of("uniform", "a", 100), of("constant", "a", 400), of("uniform", "b", 50),
                                    of("constant", "b", 450), of("uniform", "c", 1)};
    records.push_back(record("bytes=2000;distribution=constant", "a", 7));
    // With these nothing was measured.
    records.push_back(of("zipf", "a", 0, Status::not_measured));
    const auto verdicts = grade(over_data(family, records), first);
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_EQ(verdicts[0].best_variant, "b");
    EXPECT_NEAR(verdicts[0].best_ns, 150, 1e-9);
    EXPECT_NEAR(verdicts[0].time_ns, 200, 1e-9) << verdicts[0].unjudged;
    EXPECT_NEAR(verdicts[1].time_ns, 7, 1e-12);

    records.push_back(of("zipf", "b", 0, Status::crashed));
    for (const char* const data : {"constant", "zipf"}) records.push_back(of(data, "c", 1));
    const auto later = grade(over_data(family, records), [](const std::string&) { return Pick{"b", "default"}; });
    EXPECT_NE(later[0].failed, "") << "it crashes on one of the three data";
}

TEST(Judge, WhatTheLibraryNeverChoosesIsNoRival) {
    const std::string problem = "receivers=8;samples=100;sources=27;span=20;output=sums;delays=cube";
    const std::vector<CaseRecord> records{record(problem, "recomputed_times", 10), record(problem, "global_cached", 20),
                                          record(problem, "a", 30)};
    const auto verdicts = grade(over_data(*find_family("coherent_sum"), records), first);
    ASSERT_EQ(verdicts.size(), 1U);
    EXPECT_EQ(verdicts[0].best_variant, "global_cached");
}

TEST(Judge, DataWithWhichLittleWasMeasuredIsLeftOut) {
    const Family& family = *find_family("histogram");
    const auto of = [](const char* data, const char* variant, double time_ns, Status status = Status::ok) {
        return record(std::string("bytes=1000;distribution=") + data, variant, time_ns, status);
    };
    std::vector<CaseRecord> records{of("uniform", "a", 100), of("uniform", "b", 50), of("uniform", "c", 80),
                                    of("zipf", "c", 1), of("zipf", "a", 0, Status::not_measured)};
    const auto verdicts = grade(over_data(family, records), first);
    ASSERT_EQ(verdicts.size(), 1U);
    EXPECT_EQ(verdicts[0].unjudged, "");
    EXPECT_NEAR(verdicts[0].time_ns, 100, 1e-9);
    EXPECT_NEAR(verdicts[0].best_ns, 50, 1e-9);
    // Half of the choices count, and so does a failure.
    records.push_back(of("zipf", "b", 8));
    EXPECT_NE(grade(over_data(family, records), first)[0].unjudged, "");
    records.pop_back();
    records.back().status = Status::crashed;
    EXPECT_NE(grade(over_data(family, records), first)[0].failed, "");
}

TEST(Judge, WhatIsGradedIsMeasuredFirst) {
    const Family& family = *find_family("smallest_k");
    DeviceInfo device;
    device.key = "cpu-nobody-2t";
    device.threads = 2;
    device.avx2 = device.fma = true;
    const std::string problem = "rows=1000;columns=3000;k=20";
    const auto why = explain(family.name(), problem, device, nullptr);
    ASSERT_TRUE(why);
    const FirstCases first = picks_and_rivals(family, problem, device);
    ASSERT_EQ(first.needed, 1U) << "no forest of this device is loaded";
    EXPECT_EQ(first.choices.front(), std::pair(why.value().variant, why.value().configuration));
    for (const auto& rival : why.value().ranking)
        EXPECT_EQ(std::ranges::count(first.choices, std::pair(rival.variant, rival.configuration)),
                  rival.infeasible.empty() && rival.same_as.empty() ? 1 : 0)
            << rival.variant;
    EXPECT_GT(first.choices.size(), 2U);
    EXPECT_TRUE(picks_and_rivals(family, "no problem", device).choices.empty());
}

TEST(Judge, ProblemsGetOtherDataOfTheSameStream) {
    const Family& family = *find_family("smallest_k");
    const auto drawn = draw_problems(family, DeviceKind::cpu, 5, Stream::unseen, 40);
    const auto all = with_other_data(family, DeviceKind::cpu, drawn, 3);
    EXPECT_GT(all.size(), 2 * drawn.size());
    EXPECT_LE(all.size(), 3 * drawn.size());
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
    std::vector<CaseRecord> records;
    for (const std::string& problem : all) {
        EXPECT_EQ(stream_of("smallest_k", problem), Stream::unseen);
        records.push_back(record(problem, "a", 1));
    }
    EXPECT_EQ(over_data(family, records).size(), drawn.size());
    EXPECT_EQ(with_other_data(family, DeviceKind::cpu, drawn, 1), drawn);
    const Family& without = *find_family("dot");
    const auto plain = draw_problems(without, DeviceKind::cpu, 5, Stream::unseen, 9);
    EXPECT_EQ(with_other_data(without, DeviceKind::cpu, plain, 3), plain);
}

TEST(Judge, PicksWithoutATimeAreReportedAndNotDropped) {
    const std::vector<CaseRecord> records{record("elements=1", "a", 100),
                                          record("elements=2", "a", 0, Status::not_measured),
                                          record("elements=2", "b", 10),
                                          record("elements=3", "b", 10),
                                          record("elements=4", "a", 0, Status::unsupported),
                                          record("elements=4", "b", 10),
                                          record("elements=5", "a", 0, Status::not_measured),
                                          record("elements=6", "a", 10),
                                          record("elements=6", "b", 0, Status::not_measured),
                                          record("elements=6", "c", 0, Status::not_measured),
                                          record("elements=6", "d", 0, Status::unsupported)};
    const auto verdicts = grade(records, first);
    ASSERT_EQ(verdicts.size(), 6U);
    EXPECT_EQ(verdict_on(verdicts, "elements=1").unjudged, "");
    EXPECT_EQ(verdict_on(verdicts, "elements=2").unjudged, "the pick is not_measured: made up");
    EXPECT_EQ(verdict_on(verdicts, "elements=3").unjudged, "the pick has no record");
    EXPECT_EQ(verdict_on(verdicts, "elements=4").unjudged, "the pick is unsupported: made up");
    EXPECT_EQ(verdict_on(verdicts, "elements=5").unjudged, "nothing was measured");
    EXPECT_EQ(verdict_on(verdicts, "elements=6").unjudged, "1 of 3 choices that could run were measured");
    const Grades grades = grades_of(verdicts);
    EXPECT_EQ(grades.regret.problems, 1);
    EXPECT_EQ(grades.unjudged, 5U);
    Judgement judgement{.family = find_family("dot"), .verdicts = verdicts, .grades = grades};
    EXPECT_EQ(unseen_figures(judgement).at("unjudged"), 5);
    judgement.grades = grades_of({});
    EXPECT_TRUE(unseen_figures(judgement).is_null());
}

TEST(Judge, PicksThatFailCountAsTheSlowest) {
    for (const Status status : {Status::timeout, Status::too_slow}) {
        const std::vector<CaseRecord> records{record("elements=1", "a", 0, status), record("elements=1", "b", 10),
                                              record("elements=1", "c", 70)};
        const auto verdicts = grade(records, first);
        EXPECT_EQ(verdicts[0].failed, std::string(to_string(status)) + ": made up");
        EXPECT_DOUBLE_EQ(verdicts[0].regret(), 7);
        EXPECT_EQ(grades_of(verdicts).failed, 1U);
    }
}

TEST(Judge, WhatWasWrongAnywhereIsNobodysBest) {
    const std::vector<CaseRecord> records{record("elements=1", "a", 20), record("elements=1", "b", 10),
                                          record("elements=1", "c", 15), record("elements=2", "a", 5),
                                          record("elements=2", "b", 0, Status::wrong)};
    const auto verdicts = grade(records, first);
    EXPECT_EQ(verdicts[0].best_variant, "c");
    EXPECT_NEAR(verdicts[0].regret(), 20.0 / 15, 1e-12);
}

TEST(Judge, PeersAreNoJudges) {
    std::vector<CaseRecord> records{record("elements=1", "a", 20), record("elements=1", "b", 10)};
    records.back().role = "peer";
    EXPECT_DOUBLE_EQ(grade(records, first)[0].regret(), 1);
}

TEST(Judge, DisturbedProblemsAreGradedOnlyIfAskedFor) {
    std::vector<CaseRecord> records{record("elements=1", "a", 20), record("elements=1", "b", 10)};
    records.back().conditions = {.foreign_cpu_share = 0.9, .steal_cpu_share = 0, .processors = 2};
    EXPECT_EQ(grade(records, first)[0].unjudged.substr(0, 9), "disturbed");
    EXPECT_EQ(grade(records, first, true)[0].unjudged, "");
}

/// The cell of a column in the only row of a table whose cells hold no commas.
std::string cell(const std::string& csv, std::string_view column) {
    std::istringstream lines(csv);
    std::string names, values;
    std::getline(lines, names), std::getline(lines, values);
    std::istringstream header(names), row(values);
    for (std::string name, value; std::getline(header, name, ',');) {
        std::getline(row, value, ',');
        if (name == column) return value;
        value.clear();
    }
    return "no such column";
}

TEST(Choices, EarlierSourceIsSaidUnlessTimesHold) {
    const DeviceInfo device{.key = "cpu-generic-1t", .threads = 1};
    const auto why = explain("dot", "elements=1000", device, nullptr);
    ASSERT_TRUE(why);
    const Family& dot = *find_family("dot");
    const std::string today(dot.variants()[dot.find(why.value().variant)].source_id);
    CaseRecord timed = record("elements=1000", why.value().variant, 100);
    timed.configuration = why.value().configuration;
    const auto said = [&](const std::string& measured, const KnownStaleList& known) {
        timed.provenance.source_id = measured;
        return cell(choices_csv("dot", device, std::span(&timed, 1), known), "earlier_source");
    };
    const std::string name = "dot/" + why.value().variant;
    EXPECT_EQ(said(today, {}), "0");
    EXPECT_EQ(said("", {}), "0") << "nobody knows";
    EXPECT_EQ(said("old", {}), "1");
    EXPECT_EQ(said("old", {{name, {today, "the same machine code"}}}), "0");
    EXPECT_EQ(said("old", {{name, {"a source between", "the same machine code"}}}), "1");
    timed.configuration = "another";
    EXPECT_EQ(said("old", {}), "") << "the choice was not measured";
}

TEST(Choices, AreGivenWithTimeRegretAndReason) {
    const DeviceInfo device{.key = "cpu-generic-1t", .threads = 1};
    const auto why = explain("dot", "elements=1000", device, nullptr);
    ASSERT_TRUE(why);
    std::vector<CaseRecord> records{record("elements=1000", why.value().variant, 300),
                                    record("elements=1000", "b", 100)};
    records.front().configuration = why.value().configuration;
    const auto said = [&](std::string_view column) { return cell(choices_csv("dot", device, records, {}), column); };
    EXPECT_EQ(said("variant"), why.value().variant);
    EXPECT_EQ(said("configuration"), why.value().configuration);
    EXPECT_EQ(said("time_ns"), "300");
    EXPECT_EQ(said("regret"), "3");
    EXPECT_EQ(said("reason"), "");
    EXPECT_EQ(said("tree_device"), why.value().tree_device);
    EXPECT_EQ(said("leaf"), std::to_string(why.value().leaf));
    EXPECT_EQ(said("conditions"), why.value().path);
    records.front().status = Status::not_measured;
    EXPECT_EQ(said("time_ns") + said("regret"), "");
    EXPECT_EQ(said("reason"), "the pick is not_measured");
    records.front().problem = records.back().problem = "rows=1";
    EXPECT_EQ(said("variant") + said("leaf"), "") << "no problem of the family";
    EXPECT_NE(said("reason"), "");
}

// So that `espalier judge` may write what it finds to them.
TEST(Judge, CompiledTreesAreThoseOfTheResults) {
    std::size_t judged = 0;
    for (const std::string& device_key : evidence_devices(ESPALIER_RESULTS)) {
        const std::filesystem::path folder = std::filesystem::path(ESPALIER_RESULTS) / device_key;
        const DeviceInfo device = load_device(folder);
        for (const Family* family : families()) {
            const std::filesystem::path tree =
                std::filesystem::path(ESPALIER_COMMITTED_SELECTORS) / family->name() / (device_key + ".tree");
            if (!std::filesystem::exists(tree) || family->domain(device.kind).empty()) continue;
            std::vector<CaseRecord> records;
            for (const std::string& key : draw_problems(*family, device.kind, 1, Stream::unseen, 20))
                records.push_back(record(key, "nobody", 1));
            const std::vector<CaseRecord> averaged = over_data(*family, records);
            const Judgement judgement = judge(*family, device, averaged, ESPALIER_COMMITTED_SELECTORS);
            EXPECT_EQ(judgement.other_tree, "");
            EXPECT_EQ(judgement.tree_sha256.size(), 64U) << tree;
            EXPECT_TRUE(judgement.tree_devices.contains(device.key));
            EXPECT_EQ(judgement.grades.unjudged, averaged.size()) << "nobody measured the picks";
            for (const Verdict& verdict : judgement.verdicts)
                EXPECT_EQ(verdict.unjudged, "the pick has no record") << verdict.problem;
            ++judged;
        }
    }
    EXPECT_GE(judged, 7U);
}

/// The committed convolutions of an H200: several documented variants, and a tree of some leaves.
class ToCount : public testing::Test {
protected:
    ToCount() : device_(load_device(folder_)), cases_(load_cases(cases_file(folder_, "convolution_2d"))) {
        std::erase_if(cases_, [](const CaseRecord& one) { return one.status != Status::ok; });
    }

    std::set<std::string> keys(std::size_t problems) const {
        return cases_to_count(*family_, device_, cases_, problems);
    }

    /// The problems of a documented variant's cases among these.
    std::size_t problems_of(const std::string& variant, const std::set<std::string>& keys, bool counted = false) const {
        std::set<std::string> problems;
        for (const CaseRecord& one : cases_)
            if (one.variant == variant && keys.contains(one.key()) && (!counted || !one.counters.empty()))
                problems.insert(one.problem);
        return problems.size();
    }

    const std::filesystem::path folder_ = std::filesystem::path(ESPALIER_RESULTS) / "nvidia-h200";
    const Family* family_ = find_family("convolution_2d");
    DeviceInfo device_;
    std::vector<CaseRecord> cases_;
};

TEST_F(ToCount, DocumentedVariantsHaveSoManyProblems) {
    std::size_t variants = 0;
    for (const VariantInfo& variant : family_->variants()) {
        if (variant.role != Role::documented || variant.kind != DeviceKind::cuda) continue;
        const std::string name(variant.name);
        std::set<std::string> all;
        for (const CaseRecord& one : cases_) all.insert(one.key());
        const std::size_t there = problems_of(name, all);
        EXPECT_GE(problems_of(name, keys(40)), std::min<std::size_t>(40, there)) << name;
        if (there > 40) {
            EXPECT_LT(problems_of(name, keys(5)), problems_of(name, keys(40))) << name;
        }
        variants += there > 40;
    }
    EXPECT_GE(variants, 2U);
}

TEST_F(ToCount, DrawnProblemsThatAreCountedComeFirst) {
    std::set<std::string> grid;
    for (const Effort effort : {Effort::quick, Effort::standard, Effort::full})
        for (const std::string& problem : family_->default_problems(device_.kind, effort)) grid.insert(problem);
    std::set<std::string> counted;
    for (CaseRecord& one : cases_) {
        one.counters.clear();
        if (one.variant != "shared_float") continue;
        if (grid.contains(one.problem)) one.counters = {{"x", 1}};
        if (!grid.contains(one.problem) && counted.size() < 3) counted.insert(one.problem);
        if (counted.contains(one.problem)) one.counters = {{"x", 1}};
    }
    ASSERT_EQ(counted.size(), 3U);
    std::set<std::string> leaves = keys(0), found;
    for (const std::string& key : keys(3)) {
        if (leaves.contains(key)) continue;
        for (const CaseRecord& one : cases_)
            if (one.key() == key && one.variant == "shared_float") found.insert(one.problem);
    }
    EXPECT_EQ(found, counted);
}

TEST_F(ToCount, LeavesHaveTheirChoiceAndTheNextVariant) {
    const std::set<std::string> chosen = keys(0);
    std::map<int, std::set<std::string>> variants, measured;  // by leaf
    for (const CaseRecord& one : cases_) {
        const auto why = explain("convolution_2d", one.problem, device_, nullptr);
        ASSERT_TRUE(why);
        if (why.value().tree_device != device_.key) continue;
        const Explanation::RankedChoice& first = why.value().ranking.front();
        const std::string& runs = first.same_as.empty() ? first.configuration : first.same_as;
        if (first.variant == one.variant && runs == one.configuration) measured[why.value().leaf].insert(one.variant);
        if (chosen.contains(one.key())) variants[why.value().leaf].insert(one.variant);
    }
    ASSERT_GE(measured.size(), 2U);
    for (const auto& [leaf, first] : measured) {
        EXPECT_TRUE(variants[leaf].contains(*first.begin())) << leaf;
        EXPECT_LE(variants[leaf].size(), 2U);
    }
    EXPECT_LE(chosen.size(), 2 * variants.size()) << "and no more";
}

}  // namespace
}  // namespace espalier::bench::learn
