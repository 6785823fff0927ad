// Tables: what the cells mean, and that every bad input ends in a message that names file, line, column and
// the fix.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cmath>
#include <thread>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/csv.hpp"
#include "harness/apps/io/table.hpp"
#include "tests/temporary_folder.hpp"

namespace espalier::bench::io {
namespace {

using Records = std::vector<std::vector<std::string>>;

Records records(const std::string& path, char delimiter = ',') {
    CsvReader reader(path, delimiter);
    Records all;
    std::vector<std::string_view> fields;
    while (reader.next(fields)) all.emplace_back(fields.begin(), fields.end());
    return all;
}

std::string gzipped(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
    const std::string path = folder / name;
    const gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
}

TEST(Csv, ReadsRfc4180) {
    const TemporaryFolder folder;
    const auto path = folder.file("a.csv",
                                  "a,b,c\r\n"
                                  "\"x,y\",\"say \"\"hi\"\"\",\"two\nlines\"\n"
                                  "\n"
                                  " 1 ,\t2, \"3\" \n"
                                  "\"\",,5\"\n"
                                  "last,,");
    EXPECT_EQ(
        records(path),
        (Records{
            {"a", "b", "c"}, {"x,y", "say \"hi\"", "two\nlines"}, {"1", "2", "3"}, {"", "", "5\""}, {"last", "", ""}}));
}

TEST(Csv, CountsLinesInsideQuotes) {
    const TemporaryFolder folder;
    CsvReader reader(folder.file("a.csv", "h\n\n\"1\n2\n3\"\nx\n"));
    std::vector<std::string_view> fields;
    std::vector<std::int64_t> lines;
    while (reader.next(fields)) lines.push_back(reader.line());
    EXPECT_EQ(lines, (std::vector<std::int64_t>{1, 3, 6}));
}

TEST(Csv, OtherDelimitersAndAByteOrderMark) {
    const TemporaryFolder folder;
    EXPECT_EQ(records(folder.file("a.csv",
                                  "\xEF\xBB\xBF"
                                  "1;2\n"),
                      ';'),
              (Records{{"1", "2"}}));
    EXPECT_EQ(records(folder.file("a.tsv", "1\t\t2\n"), '\t'), (Records{{"1", "", "2"}}));
}

TEST(Csv, RecordsAcrossBlocksSurvive) {
    // Records of every length around the reader's block of 1 MiB, with and without quotes.
    const TemporaryFolder folder;
    Records expected;
    std::string text;
    for (std::size_t i = 0; i < 4000; ++i) {
        const std::string cell(700 + i % 311, static_cast<char>('a' + i % 26));
        const bool quoted = i % 3 == 0;
        expected.push_back({std::to_string(i), quoted ? cell + "\n" + cell : cell});
        text += std::to_string(i) + "," + (quoted ? "\"" + cell + "\n" + cell + "\"" : cell) + "\n";
    }
    EXPECT_EQ(records(folder.file("a.csv", text)), expected);
    EXPECT_EQ(records(gzipped(folder, "a.csv.gz", text)), expected);
}

TEST(Csv, ADamagedGzipFileIsRefused) {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919 % 10007) + "," + std::to_string(i) + "\n";
    const std::string whole = read_bytes(gzipped(folder, "a.csv.gz", text));
    const auto cut = folder.file("cut.csv.gz", whole.substr(0, whole.size() / 2));
    expect_holds(message_of<BadFile>([&] { records(cut); }), {"cut.csv.gz", "cut off", "get the whole file again"});
    std::string bad = whole;
    bad[bad.size() / 2] ^= 0x10;
    EXPECT_THROW(records(folder.file("bad.csv.gz", bad)), BadFile);
    EXPECT_THROW(records(folder.file("end.csv.gz", whole.substr(0, whole.size() - 4))), BadFile);
}

TEST(Csv, WhatIsNoCsvIsRefused) {
    const TemporaryFolder folder;
    const auto message = [](const std::string& path) { return message_of<BadFile>([&] { records(path); }); };
    expect_holds(message(folder / "none.csv"), {"none.csv: no such file"});
    expect_holds(message(folder.file("bin.csv", std::string("a\0b", 3))), {"not text", "UTF-8"});
    expect_holds(message(folder.file("open.csv", "a,b\n1,\"2\n3,4\n")), {"open.csv: line 2", "never closed"});
    expect_holds(message(folder.file("after.csv", "a,b\n1,\"2\"3\n")),
                 {"line 2", "after the closing quote", "field 2"});
    expect_holds(message(folder.file("endless.csv", "a\n\"" + std::string(18 << 20, 'x') + "\"")),
                 {"line 2", "16 MiB", "quote"});
}

/// A table of two attributes, one nominal, with a missing cell of each kind.
constexpr const char* kWeather = "temperature,sky,play\n21.5,sunny,yes\n?,rain,no\n18,NA,yes\n+3e1,,no\nnan,rain,yes\n";

TEST(Table, ReadsNumericNominalAndMissingCells) {
    const TemporaryFolder folder;
    const Table table = read_table(folder.file("w.csv", kWeather), {});
    ASSERT_EQ(table.schema.attributes.size(), 2U);
    const auto& [temperature, sky] = std::tie(table.schema.attributes[0], table.schema.attributes[1]);
    EXPECT_EQ(temperature.name, "temperature");
    EXPECT_EQ(temperature.kind, ColumnKind::numeric);
    EXPECT_EQ(temperature.missing, 2);
    EXPECT_EQ(sky.kind, ColumnKind::nominal);
    EXPECT_EQ(sky.values, (std::vector<std::string>{"sunny", "rain"}));
    EXPECT_EQ(sky.missing, 2);
    const auto& values = table.rows.attributes;
    EXPECT_EQ(values[0][0], 21.5F);
    EXPECT_TRUE(std::isnan(values[0][1]));
    EXPECT_EQ(values[0][3], 30);
    EXPECT_EQ(values[1][1], 1);
    EXPECT_TRUE(std::isnan(values[1][2]));
    EXPECT_EQ(table.schema.label.values, (std::vector<std::string>{"no", "yes"})) << "classes sort by text";
    EXPECT_EQ(table.rows.classes, (std::vector<std::int32_t>{1, 0, 1, 0, 1}));
}

TEST(Table, ClassesThatAreNumbersSortByValue) {
    const TemporaryFolder folder;
    const Table table = read_table(folder.file("a.csv", "1,10\n2,9\n3,-1\n4,10\n"), {});
    EXPECT_EQ(table.schema.label.values, (std::vector<std::string>{"-1", "9", "10"}));
    EXPECT_EQ(table.rows.classes, (std::vector<std::int32_t>{2, 1, 0, 2}));
}

TEST(Table, TheLabelIsANameANumberOrTheLastColumn) {
    const TemporaryFolder folder;
    const auto path = folder.file("a.csv", "a,b,c\n1,2,3\n4,5,6\n");
    EXPECT_EQ(read_table(path, {}).schema.label.name, "c");
    EXPECT_EQ(read_table(path, {.label = "b"}).schema.label.name, "b");
    EXPECT_EQ(read_table(path, {.label = "1"}).schema.label.name, "a");
    EXPECT_EQ(read_table(path, {.ignored = {"c"}}).schema.label.name, "b");
    expect_holds(message_of<BadFile>([&] { read_table(path, {.label = "d"}); }),
                 {"a.csv: has no column 'd' for --label", "a, b, c", "1 to 3"});
    expect_holds(message_of<BadFile>([&] { read_table(path, {.label = "4"}); }), {"no column '4'"});
    expect_holds(message_of<BadFile>([&] { read_table(path, {.nominal = {"x"}}); }), {"no column 'x' for --nominal"});
    expect_holds(message_of<BadFile>([&] { read_table(path, {.label = "b", .ignored = {"b"}}); }), {"both"});
}

TEST(Table, AHeaderIsTheFirstLineWithoutNumbersUnlessToldOtherwise) {
    using H = TableOptions::Header;
    const TemporaryFolder folder;
    EXPECT_EQ(read_table(folder.file("a.csv", "1,2,x\n3,4,y\n"), {}).rows.size(), 2U);
    EXPECT_EQ(read_table(folder.file("b.csv", "2019,2020,class\n3,4,y\n"), {.header = H::present}).rows.size(), 1U);
    EXPECT_EQ(read_table(folder.file("c.csv", "red,x\nblue,y\n"), {.header = H::absent}).rows.size(), 2U);
    expect_holds(message_of<BadFile>([&] { read_table(folder.file("d.csv", "a,b,a\n1,2,3\n"), {}); }),
                 {"d.csv: line 1", "two columns are called 'a'", "--no-header"});
}

TEST(Table, ScikitLearnsHeaderNamesTheClasses) {
    const TemporaryFolder folder;
    const auto path = folder.file("iris.csv", "3,2,setosa,versicolor,virginica\n5,3,2\n6,2,0\n7,1,2\n");
    const Table table = read_table(path, {});
    EXPECT_EQ(table.rows.size(), 3U);
    EXPECT_EQ(table.schema.attributes.size(), 2U);
    EXPECT_EQ(table.schema.label.values, (std::vector<std::string>{"setosa", "versicolor", "virginica"}));
    EXPECT_EQ(table.rows.classes, (std::vector<std::int32_t>{2, 0, 2}));

    const auto message = [&](const char* text) {
        return message_of<BadFile>([&] { read_table(folder.file("bad.csv", text), {}); });
    };
    expect_holds(message("4,2,setosa,versicolor\n5,3,1\n6,2,0\n7,1,1\n"), {"declares 4 rows", "has 3", "whole file"});
    expect_holds(message("3,2,setosa,versicolor\n5,3,1\n6,2,2\n7,1,1\n"),
                 {"line 3", "'2' is no class number", "names 2 classes"});
}

TEST(Table, ATestFileIsMatchedByNameOrByPosition) {
    const TemporaryFolder folder;
    const Table train = read_table(folder.file("train.csv", "a,b,y\n1,2,p\n3,4,q\n"), {});
    const auto read = [&](const char* text) {
        TableReader reader(folder.file("test.csv", text), {}, train.schema);
        Rows rows;
        reader.read(rows, 100);
        return std::pair{rows, reader.schema().has_label};
    };
    const auto by_name = read("y,b,a\nq,6,5\n");
    EXPECT_EQ(by_name.first.attributes, (std::vector<std::vector<float>>{{5}, {6}}));
    EXPECT_EQ(by_name.first.classes, (std::vector<std::int32_t>{1}));
    const auto by_position = read("5,6,q\n");
    EXPECT_EQ(by_position.first.attributes, by_name.first.attributes);
    EXPECT_TRUE(by_position.second);
    for (const char* without_label : {"b,a\n6,5\n", "5,6\n"}) {
        const auto result = read(without_label);
        EXPECT_EQ(result.first.attributes, by_name.first.attributes);
        EXPECT_FALSE(result.second);
    }
    const auto message = [&](const char* text) { return message_of<BadFile>([&] { read(text); }); };
    expect_holds(message("a,c,y\n1,2,p\n"), {"test.csv: line 1", "'c' is not in the training table", "--ignore"});
    expect_holds(message("a,y\n1,p\n"), {"'b' of the training table is missing", "add it"});
    expect_holds(message("1,2,3,4\n"), {"line 1: 4 columns where the training table has 3"});
    expect_holds(message("a,b,y\n1,2,p\n1,2,r\n"),
                 {"test.csv: line 3, column 'y'", "class 'r' does not occur", "known: p, q"});
    expect_holds(message("a,b,y\n1,2,\n"), {"line 2, column 'y'", "label is missing", "fill it in"});
}

TEST(Table, NominalValuesThatTheTrainingLacksAreRefused) {
    const TemporaryFolder folder;
    const Table train = read_table(folder.file("train.csv", kWeather), {});
    TableReader reader(folder.file("test.csv", "temperature,sky,play\n1,rain,no\n2,fog,no\n"), {}, train.schema);
    Rows rows;
    expect_holds(message_of<BadFile>([&] { reader.read(rows, 10); }),
                 {"test.csv: line 3, column 'sky'", "'fog' does not occur", "sunny, rain", "leave it empty"});
}

TEST(Table, BadTablesAreNamedWithLineColumnAndFix) {
    const TemporaryFolder folder;
    const auto message = [&](const std::string& text, const TableOptions& options = {}) {
        return message_of<BadFile>([&] { read_table(folder.file("t.csv", text), options); });
    };
    expect_holds(message(""), {"t.csv: is empty"});
    expect_holds(message("\n\n"), {"is empty"});
    expect_holds(message("a,b\n"), {"a header and no rows"});
    expect_holds(message("a,b\n1,2\n1,2,3\n"), {"t.csv: line 3: 3 fields", "2 columns", "complete the row"});
    expect_holds(message("a,b\n1,2\n\n\n1\n"), {"line 5: 1 field where"});
    expect_holds(message("a,b\n1,x\ntwo,y\n"),
                 {"t.csv: line 3, column 'a': 'two' is not a number", "leave it empty", "--nominal 1"});
    expect_holds(message("a,b\n1e39,x\n"), {"line 2, column 'a'", "infinite", "scale"});
    expect_holds(message("a,b\ninf,x\n"), {"line 2, column 'a'", "infinite"});
    expect_holds(message("a,b\n1,x\n2,?\n"), {"line 3, column 'b'", "label is missing"});
    expect_holds(message("a,b,c\n1,,x\n2,NA,y\n"), {"column 'b' has no value in any of the 2 rows", "--ignore 2"});
    expect_holds(message("1;2;3\n4;5;6\n"), {"no column to compute distances from", "--delimiter"});
    expect_holds(message("1,2\n3,oops\n", {.numeric_label = true}), {"line 2, column 'column 2'", "'oops'"});
    expect_holds(message("a,b\n\x1b[31mred,x\n3,y\n", {.nominal = {}, .max_bytes = 8}),
                 {"2 rows of 8 bytes", "16 bytes", "memory budget is 8 bytes", "--memory"});
}

TEST(Table, MessagesDoNotSteerTheTerminal) {
    const TemporaryFolder folder;
    const auto path = folder.file("t.csv", "a,b\n1,x\n\x1b[31mred\x07,y\n");
    const auto message = message_of<BadFile>([&] { read_table(path, {}); });
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
    EXPECT_EQ(message.find('\x07'), std::string::npos);
}

TEST(Table, AKeyIsNoNominalAttribute) {
    const TemporaryFolder folder;
    std::string text = "key,class\n";
    for (int i = 0; i < 70'000; ++i) text.append("k").append(std::to_string(i)).append(",x\n");
    expect_holds(message_of<BadFile>([&] { read_table(folder.file("t.csv", text), {}); }),
                 {"column 'key'", "65,536", "--ignore 1"});
}

TEST(Table, NumbersMayBeTakenAsNominal) {
    const TemporaryFolder folder;
    const Table table = read_table(folder.file("t.csv", "zip,y\n70173,a\n10115,b\n70173,b\n"), {.nominal = {"zip"}});
    EXPECT_EQ(table.rows.attributes[0], (std::vector<float>{0, 1, 0}));
}

TEST(Table, TargetsOfARegressionAreNumbers) {
    const TemporaryFolder folder;
    const Table table = read_table(folder.file("t.csv", "a,y\n1,0.5\n2,-3\n"), {.numeric_label = true});
    EXPECT_EQ(table.rows.targets, (std::vector<float>{0.5F, -3}));
    EXPECT_TRUE(table.rows.classes.empty());
}

std::size_t peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

TEST(Table, ThreeMillionRowsStreamInBoundedMemory) {
    // Through a pipe, so that the test needs no disk; 3,000,000 rows are what source K streams at most.
    constexpr std::int64_t kRows = 3'000'000;
    const TemporaryFolder folder;
    const Table train = read_table(folder.file("train.csv", "a,b,c,y\n0,0,0,no\n1,1,1,yes\n"), {});
    const std::string pipe = folder / "pipe.csv";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] {
        std::ofstream out(pipe, std::ios::binary);
        out << "a,b,c,y\n";
        std::string line;
        for (std::int64_t i = 0; i < kRows; ++i) {
            line.clear();
            line.append(std::to_string(i)).append(".25,-").append(std::to_string(i % 97));
            line.append(i % 10 ? ",1e-3," : ",,").append(i % 2 ? "yes\n" : "no\n");
            out << line;
        }
    });
    const std::size_t before = peak_bytes();
    TableReader reader(pipe, {}, train.schema);
    Rows chunk;
    std::int64_t rows = 0, yes = 0;
    double sum = 0;
    while (true) {
        chunk.clear();
        if (!reader.read(chunk, 10'000)) break;
        rows += static_cast<std::int64_t>(chunk.size());
        for (const float value : chunk.attributes[1]) sum -= static_cast<double>(value);
        for (const auto label : chunk.classes) yes += label;
    }
    writer.join();
    EXPECT_EQ(rows, kRows);
    EXPECT_EQ(yes, kRows / 2);
    double expected = 0;
    for (std::int64_t i = 0; i < kRows; ++i) expected += static_cast<double>(i % 97);
    EXPECT_EQ(sum, expected);
    EXPECT_EQ(reader.schema().attributes[2].missing, kRows / 10);
#if !defined(__SANITIZE_ADDRESS__)
    EXPECT_LT(peak_bytes() - before, 32U << 20) << "the file has about 90 MB";
#endif
}

}  // namespace
}  // namespace espalier::bench::io
