// The CSV's columns, and when a time has an interval.

#include "harness/bench/records/csv.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "harness/base/text/csv_field.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/records/interval.hpp"
#include "tests/support/record_samples.hpp"

namespace espalier::bench {
namespace {

TEST(Csv, FieldsAreInert) {
    EXPECT_EQ(csv_field("plain"), "plain");
    EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
    EXPECT_EQ(csv_field("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
    EXPECT_EQ(csv_field("@x"), "'@x");
    for (const char* harmless : {"-1", "-2.5e3", "-", "+", "a=b"}) EXPECT_EQ(csv_field(harmless), harmless);
    EXPECT_EQ(csv_field("-1+cmd"), "'-1+cmd");
    EXPECT_EQ(csv_field("two\nlines\x1b]0;title\x07"), "two lines\\x1b]0;title\\x07");
}

TEST(Csv, HasTheContractsColumns) {
    CaseRecord slow = sample_record();
    slow.variant = "global_atomics";
    slow.time_ns *= 2;
    CaseRecord peer = sample_record();
    peer.variant = "peer_cub";
    peer.role = "peer";
    peer.time_ns /= 2;
    CaseRecord none = sample_record();
    none.variant = "broken";
    none.status = Status::crashed;
    none.reason = "signal 11, \"bad\"";
    none.counters.clear();
    const std::string csv = to_csv(std::vector{sample_record(), slow, peer, none});
    std::istringstream lines(csv);
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(
        line,
        "family,variant,role,status,reason,problem,configuration,time_ns,time_lo_ns,time_hi_ns,bytes,ops,gb_per_s,"
        "gop_per_s,roofline_share,regret,problem_bytes,distribution,dram__bytes_read.sum,device,driver,build,session,"
        "cache,samples,disturbed");
    std::getline(lines, line);
    EXPECT_EQ(line,
              "histogram,shared_atomics,documented,ok,,bytes=1000;distribution=uniform,block=256;items=4,1200.25,1190,"
              "1210.5,1000,1000,0.83316,0.83316,0.083316,1,1000,uniform,1024,cpu-test-2t,Linux 6.1,\"espalier 0.1.0, "
              "Release\",20260101T000000Z-00000000,warm,3,");
    std::getline(lines, line);
    EXPECT_NE(line.find(",2,1000,uniform"), std::string::npos) << "regret of the slower: " << line;
    std::getline(lines, line);
    EXPECT_NE(line.find(",0.5,1000,uniform"), std::string::npos) << "a peer does not set the best: " << line;
    std::getline(lines, line);
    EXPECT_EQ(
        line,
        "histogram,broken,documented,crashed,\"signal 11, \"\"bad\"\"\",bytes=1000;distribution=uniform,block=256;"
        "items=4,,,,1000,1000,,,,,1000,uniform,,cpu-test-2t,Linux 6.1,\"espalier 0.1.0, Release\","
        "20260101T000000Z-00000000,warm,,");
}

/// A CSV's fields, of rows without quotes.
std::vector<std::map<std::string, std::string>> fields_of(const std::string& csv) {
    std::istringstream lines(csv);
    std::vector<std::map<std::string, std::string>> rows;
    std::vector<std::string> header;
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> fields;
        std::istringstream text(line + ",");
        for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
        if (header.empty()) {
            header = fields;
            EXPECT_EQ(std::set<std::string>(header.begin(), header.end()).size(), header.size()) << line;
            continue;
        }
        EXPECT_EQ(fields.size(), header.size()) << line;
        std::map<std::string, std::string>& row = rows.emplace_back();
        for (std::size_t i = 0; i < std::min(header.size(), fields.size()); ++i) row[header[i]] = fields[i];
    }
    return rows;
}

CaseRecord csv_record() {
    CaseRecord record = sample_record();
    record.provenance.build = "some";  // without a comma
    return record;
}

TEST(Csv, NoNameStandsTwice) {
    CaseRecord record = csv_record();
    record.features.clear();
    const std::vector<std::string> names{"bytes",   "ops",     "samples",       "device",        "cache", "session",
                                         "problem", "regret",  "problem_bytes", "problem_n",     "n",     "disturbed",
                                         "build",   "time_ns", "transfer_ns",   "problem_ops_2", "driver"};
    for (std::size_t i = 0; i < names.size(); ++i) record.features.emplace_back(names[i], 100 + i);
    record.conditions.transfer_ns = 2500.5;
    const auto rows = fields_of(to_csv(std::vector{record}));
    ASSERT_EQ(rows.size(), 1U);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string value = names[i] == "bytes" ? "1000" : std::to_string(100 + i);  // as the key spells it
        EXPECT_EQ(rows[0].at(feature_column(names[i])), value) << names[i];
    }
    EXPECT_EQ(rows[0].at("samples"), "3");
    EXPECT_EQ(rows[0].at("transfer_ns"), "2500.5");
    EXPECT_EQ(feature_column("n"), "n");
    EXPECT_EQ(feature_column("problem_n"), "problem_n");
    EXPECT_EQ(feature_column("bytes"), "problem_bytes");
    EXPECT_EQ(feature_column("problem_bytes"), "problem_problem_bytes") << "two features, two columns";
}

TEST(Csv, FeaturesOfEveryFamilyHaveAColumnOfTheirOwn) {
    for (const Family* family : families()) {
        CaseRecord record = csv_record();
        record.family = family->name();
        record.problem = family->canonical("");
        record.features.clear();
        const auto values = family->feature_values("");
        for (std::size_t f = 0; f < values.size(); ++f)
            record.features.emplace_back(family->features()[f].name, values[f]);
        const auto rows = fields_of(to_csv(std::vector{record}));
        ASSERT_EQ(rows.size(), 1U);
        for (const auto& [name, value] : record.features) EXPECT_TRUE(rows[0].contains(feature_column(name))) << name;
    }
}

TEST(Csv, DisturbedCasesSaySoAndSetNoBest) {
    const std::pair<Conditions, const char*> causes[] = {{{.foreign_cpu_share = 0.9, .processors = 2}, "programs"},
                                                         {{.steal_cpu_share = 0.9, .processors = 2}, "guests"},
                                                         {{.clock_share = 0.3}, "slow_processor"},
                                                         {{.sm_clock_mhz = 900, .disturbed_share = 0.9}, "slow_gpu"}};
    for (const auto& [conditions, cause] : causes) {
        CaseRecord disturbed = csv_record(), quiet = csv_record(), slow = csv_record();
        disturbed.variant = "disturbed", slow.variant = "slow";
        disturbed.conditions = conditions;
        disturbed.time_ns /= 2;
        slow.time_ns *= 2;
        const auto rows = fields_of(to_csv(std::vector{disturbed, quiet, slow}));
        ASSERT_EQ(rows.size(), 3U);
        EXPECT_EQ(rows[0].at("disturbed"), cause);
        EXPECT_EQ(rows[0].at("time_ns"), "600.125") << "it is still shown";
        EXPECT_EQ(rows[0].at("regret"), "");
        EXPECT_EQ(rows[1].at("disturbed"), "");
        EXPECT_EQ(rows[1].at("regret"), "1");
        EXPECT_EQ(rows[2].at("regret"), "2");
        EXPECT_EQ(fields_of(to_csv(std::vector{disturbed})).at(0).at("regret"), "");
    }
}

TEST(Interval, NeedsSixSamplesThatAreTogether) {
    CaseRecord record = sample_record();
    const auto with = [&](std::size_t samples, double lo, double hi) {
        record.samples_ns.assign(samples, 1000);
        record.time_ns = 1000, record.time_lo_ns = lo, record.time_hi_ns = hi;
        return interval_of(record).has_value();
    };
    EXPECT_TRUE(with(6, 990, 1010));
    EXPECT_FALSE(with(5, 990, 1010)) << "of five samples all lie on one side of the true median in 6% of the cases";
    EXPECT_FALSE(with(1, 1000, 1000));
    EXPECT_TRUE(has_few_samples(record));
    EXPECT_TRUE(with(30, 501, 1999));
    EXPECT_FALSE(with(30, 990, 1.6e6)) << "two states of a machine";
    EXPECT_FALSE(with(30, 400, 1010));
    EXPECT_FALSE(has_few_samples(record));
    record.status = Status::wrong;
    EXPECT_FALSE(with(30, 990, 1010)) << "there is no time";
}

TEST(Interval, ATimeAtTheResolutionIsABound) {
    CaseRecord record = sample_record();
    EXPECT_FALSE(is_bound(record));
    record.conditions.resolution_ns = record.time_ns;
    EXPECT_TRUE(is_bound(record));
    record.time_ns *= 1.01;
    EXPECT_FALSE(is_bound(record)) << "only some of its samples were";
}

TEST(Csv, OptionalFeaturesAreAColumnOnceOneRecordHasThem) {
    CaseRecord before = sample_record();
    before.family = "smallest_k", before.problem = "rows=5;columns=6;k=2";
    before.features = {{"rows", 5}, {"columns", 6}, {"k", 2}, {"elements", 30}};
    CaseRecord with = before;
    with.problem += ";layout=row_major";
    with.features.insert(with.features.begin() + 3, {"layout", 1});
    const std::string last = ",device,driver,build,session,cache,samples,disturbed";
    const std::string from = ",cpu-test-2t,Linux 6.1,\"espalier 0.1.0, Release\",20260101T000000Z-00000000,warm,3,";
    const auto ends = [](const std::vector<CaseRecord>& records, const std::vector<std::string>& lines) {
        std::istringstream csv(to_csv(records));
        std::string line;
        for (const std::string& end : lines) {
            std::getline(csv, line);
            EXPECT_TRUE(line.ends_with(end)) << line << "\n" << end;
        }
    };
    ends({before}, {",rows,columns,k,elements,dram__bytes_read.sum" + last, ",5,6,2,30,1024" + from});
    ends({before, with}, {",rows,columns,k,layout,elements,dram__bytes_read.sum" + last,
                          ",5,6,2,transposed,30,1024" + from, ",5,6,2,row_major,30,1024" + from});
    // As trees ask for it: a single row has no other layout.
    CaseRecord single = before;
    single.problem = "rows=1;columns=6;k=2", single.features.front().second = 1;
    ends({single, with},
         {",rows,columns,k,layout,elements,dram__bytes_read.sum" + last, ",1,6,2,row_major,30,1024" + from});
}

TEST(Csv, SaysWhatTheTransfersTakeWhereTheyWereMeasured) {
    CaseRecord measured = csv_record();
    measured.conditions.transfer_ns = 2500.5;
    CaseRecord failed = measured;
    failed.status = Status::crashed;
    const std::string csv = to_csv(std::vector{measured, csv_record(), failed});
    EXPECT_NE(csv.find(",dram__bytes_read.sum,transfer_ns,device,driver,"), std::string::npos) << csv;
    const auto rows = fields_of(csv);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].at("transfer_ns"), "2500.5");
    EXPECT_EQ(rows[1].at("transfer_ns"), "");
    EXPECT_EQ(rows[2].at("transfer_ns"), "");
}

TEST(Csv, NamesTheStagesWhereTheyWereNoted) {
    CaseRecord noted = csv_record();
    noted.stages = {"distance/global", "smallest_k/local_insertion"};
    const auto rows = fields_of(to_csv(std::vector{noted, csv_record()}));
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].at("stages"), "distance/global smallest_k/local_insertion");
    EXPECT_EQ(rows[1].at("stages"), "");
    EXPECT_EQ(to_csv(std::vector{csv_record()}).find("stages"), std::string::npos);
}

TEST(JsonRows, AreTheCsvsWithNumbersAsNumbers) {
    CaseRecord measured = csv_record(), failed = csv_record(), odd = csv_record();
    measured.conditions.transfer_ns = 2500.5;
    failed.status = Status::crashed;
    failed.reason = "signal 11";
    odd.counters.front().second = std::numeric_limits<double>::infinity();
    const std::vector records{measured, failed, odd};
    const std::string text = to_json_rows(records);
    const auto json = nlohmann::json::parse(text);
    const auto rows = fields_of(to_csv(records));
    ASSERT_EQ(json.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const auto& [column, field] : rows[i]) {
            const bool not_json = field == "inf";
            ASSERT_EQ(json[i].contains(column), !field.empty() && !not_json) << column;
            if (!json[i].contains(column)) continue;
            const auto& value = json[i].at(column);
            EXPECT_EQ(value.is_string() ? value.get<std::string>() : fmt::format("{}", value.get<double>()), field)
                << column;
        }
    EXPECT_EQ(json[0].at("time_ns"), 1200.25);
    EXPECT_EQ(json[0].at("transfer_ns"), 2500.5);
    EXPECT_EQ(json[0].at("samples"), 3);
    EXPECT_TRUE(json[0].at("distribution").is_string());
    failed.reason = "signal 11, \"bad\"\n\x1b[31m\xff";
    const std::string escaped = to_json_rows(std::vector{failed});
    EXPECT_EQ(nlohmann::json::parse(escaped)[0].at("reason"), "signal 11, \"bad\"\n\x1b[31m\uFFFD");
    EXPECT_EQ(escaped.find('\x1b'), std::string::npos) << escaped;
    EXPECT_EQ(nlohmann::json::parse(to_json_rows({})), nlohmann::json::array());
}

}  // namespace
}  // namespace espalier::bench
