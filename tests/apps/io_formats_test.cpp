// Tables in the formats of Weka and libsvm: the values that CSV would hold, and errors that name the line.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <thread>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/tables/table.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::io {
namespace {

class Formats : public testing::Test {
protected:
    [[nodiscard]] Table table(const std::string& text, const TableOptions& options = {},
                              const std::string& name = "table") const {
        return read_table(folder.file(name, text), options);
    }
    void expect_bad(const std::string& text, std::initializer_list<const char*> parts,
                    const std::string& name = "table") const {
        try {
            static_cast<void>(table(text, {}, name));
            FAIL() << text;
        } catch (const BadFile& error) {
            for (const char* part : parts)
                EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        }
    }

    TemporaryFolder folder;
};

constexpr const char* kWeather =
    "% Made by hand\n@RELATION 'the weather'\n\n@attribute \"out look\" {sunny, 'over cast', rainy}\n"
    "@ATTRIBUTE temperature REAL\n@attribute humidity integer\n@attribute note string % free\n"
    "@attribute when date 'yyyy-MM-dd'\n@attribute play {yes,no}\n\n@DATA\n";

TEST_F(Formats, ArffSaysWhatColumnsAre) {
    const Table read = table(std::string(kWeather) +
                             "sunny, 21.5,80,'it\\'s \"fine\", so',1970-01-02,yes\r\n"
                             "% in between\n'over cast',?,9e1,b,2024-12-31,no\n"
                             "?,-3,70,'it\\'s \"fine\", so',?,\"no\"\n");
    ASSERT_EQ(read.schema.attributes.size(), 5U);
    EXPECT_EQ(read.schema.attributes[0].name, "out look");
    EXPECT_EQ(read.schema.attributes[0].kind, ColumnKind::nominal);
    EXPECT_EQ(read.schema.attributes[0].values, (std::vector<std::string>{"sunny", "over cast"}));
    EXPECT_EQ(read.schema.attributes[1].kind, ColumnKind::numeric);
    EXPECT_EQ(read.schema.attributes[3].values, (std::vector<std::string>{"it's \"fine\", so", "b"}));
    EXPECT_EQ(read.schema.label.name, "play");
    EXPECT_EQ(read.rows.classes, (std::vector<std::int32_t>{1, 0, 0}));
    EXPECT_EQ(read.rows.attributes.at(0, 1), 21.5);
    EXPECT_TRUE(std::isnan(read.rows.attributes.at(1, 1)));
    EXPECT_EQ(read.rows.attributes.column(2), (std::vector<Number>{80, 90, 70}));
    EXPECT_EQ(read.rows.attributes.at(0, 4), 1);
    EXPECT_EQ(read.rows.attributes.at(1, 4), 20088);  // days from 1970-01-01 to 2024-12-31
    EXPECT_TRUE(std::isnan(read.rows.attributes.at(2, 0)) && std::isnan(read.rows.attributes.at(2, 4)));
}

TEST_F(Formats, SparseArffHasZerosAndFirstValues) {
    const Table read = table(
        "@relation s\n@attribute a numeric\n@attribute b numeric\n@attribute c {x,y}\n@attribute d {p,q}\n@data\n"
        "{1 2.5, 3 q}\n{}\n{0 -1, 2 y, 3 'p'}\n{0 ?}\n");
    EXPECT_EQ(read.rows.attributes.at(0, 0), 0);
    EXPECT_EQ(read.rows.attributes.at(2, 0), -1);
    EXPECT_TRUE(std::isnan(read.rows.attributes.at(3, 0)));
    EXPECT_EQ(read.rows.attributes.column(1), (std::vector<Number>{2.5, 0, 0, 0}));
    EXPECT_EQ(read.rows.attributes.column(2), (std::vector<Number>{0, 0, 1, 0}));
    EXPECT_EQ(read.rows.classes, (std::vector<std::int32_t>{1, 0, 0, 0}));
}

TEST_F(Formats, BadArffIsRefusedByLine) {
    const std::string weather = kWeather;
    expect_bad(weather + "foggy,1,2,a,?,yes\n", {"line 12", "'foggy'", "'out look'"});
    expect_bad(weather + "sunny,hot,2,a,?,yes\n", {"line 12", "'hot'", "'temperature'"});
    expect_bad(weather + "sunny,1,2,a,yes\n", {"line 12", "5 values", "6 attributes"});
    expect_bad(weather + "sunny,1,,a,?,yes\n", {"line 12", "'humidity'", "write ?"});
    expect_bad(weather + "sunny,1,2,'a,?,yes\n", {"line 12", "not closed"});
    expect_bad(weather + "{0 sunny, 9 1}\n", {"line 12", "'9'", "0 to 5"});
    expect_bad(weather + "{0 sunny, 0 rainy}\n", {"line 12", "twice"});
    expect_bad(weather + "{0 sunny, 5 yes}\n", {"line 12", "'note'"});
    expect_bad(weather, {"no rows"});
    expect_bad("@relation r\n@attribute a numeric\n", {"@data"});
    expect_bad("@relation r\n@attribute a complex\n@data\n1\n", {"line 2", "'complex'"});
    expect_bad("@relation r\n@attribute a {x,y\n@data\n", {"line 2", "}"});
    expect_bad("@relation r\n1,2,3\n", {"line 2", "@data"});
}

TEST_F(Formats, LibsvmIsSparse) {
    const Table read = table("+1 1:0.5 4:-2e1 # a comment\n\n# another\r\n-1 2:3\n+1\n2 qid:7 1:1\n");
    ASSERT_EQ(read.schema.attributes.size(), 4U);
    EXPECT_EQ(read.schema.attributes[3].name, "4");
    EXPECT_EQ(read.schema.label.name, "label");
    EXPECT_EQ(read.schema.label.values, (std::vector<std::string>{"-1", "+1", "2"}));
    EXPECT_EQ(read.rows.classes, (std::vector<std::int32_t>{1, 0, 1, 2}));
    EXPECT_EQ(read.rows.attributes.column(0), (std::vector<Number>{0.5, 0, 0, 1}));
    EXPECT_EQ(read.rows.attributes.column(2), (std::vector<Number>{0, 0, 0, 0}));
    EXPECT_EQ(read.rows.attributes.column(3), (std::vector<Number>{-20, 0, 0, 0}));
    const Table targets = table("1.5 1:1\n2.5 1:2\n", {.numeric_label = true});
    EXPECT_EQ(targets.rows.targets, (std::vector<Number>{1.5, 2.5}));
}

TEST_F(Formats, BadLibsvmIsRefusedByLine) {
    expect_bad("1 1:1\n1 0:1\n", {"line 2", "'0'", "counts from 0"});
    expect_bad("1 1:1\n1 3:1 2:1\n", {"line 2", "index 2", "ascend"});
    expect_bad("1 1:1\n1 2:1 2:1\n", {"line 2", "each stands once"});
    expect_bad("1 1:1\n1 2:x\n", {"line 2", "'x'", "no number"});
    expect_bad("1 1:1\n1 2 :1\n", {"line 2", "'2'"});
    expect_bad("1 1:1\n1,2 1:1\n", {"line 2", "several labels"});
    expect_bad("1 1:1\n2:1\n", {"line 2", "no label"});
    expect_bad("1 1:1\n1 999999999:1\n", {"line 2", "999999999"});
    expect_bad("1\n-1\n", {"no row"}, "labels.svm");
    TableOptions small;
    small.max_bytes = 1 << 20;
    std::string wide;
    for (int i = 0; i < 8; ++i) wide += "1 200000:1\n";
    EXPECT_THROW(static_cast<void>(table(wide, small)), BadFile);
}

TEST_F(Formats, PipesAreToldByContent) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::jthread writer([&] {
        for (const char c : std::string("@relation r\n@attribute a numeric\n@attribute c {p,q}\n@data\n1,p\n2,q\n"))
            if (write(ends[1], &c, 1) != 1) break;  // as little at a time as there is
        close(ends[1]);
    });
    const Table read = read_table("/dev/fd/" + std::to_string(ends[0]), {});
    writer.join();
    close(ends[0]);
    EXPECT_EQ(read.rows.attributes.column(0), (std::vector<Number>{1, 2}));
}

TEST_F(Formats, CsvStaysCsv) {
    for (const char* text : {"a,b\n1,p\n2,q\n", "10:30,p\n11:45,q\n", "1 10:30,p\n2 11:30,q\n"})
        EXPECT_FALSE(table(text, {.nominal = {"1"}}).header.starts_with("the file declares")) << text;
}

}  // namespace
}  // namespace espalier::bench::io
