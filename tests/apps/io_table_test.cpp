// Tables: what the cells mean, and that every bad input ends in a message that names file, line, column and
// the fix.

#include <gtest/gtest.h>

#include <cmath>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/tables/scale.hpp"
#include "harness/apps/tables/table.hpp"
#include "harness/apps/tables/table_summary.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::io {
namespace {

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
    EXPECT_EQ(values.at(0, 0), 21.5);
    EXPECT_TRUE(std::isnan(values.at(1, 0)));
    EXPECT_EQ(values.at(3, 0), 30);
    EXPECT_EQ(values.at(1, 1), 1);
    EXPECT_TRUE(std::isnan(values.at(2, 1)));
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
    EXPECT_EQ(by_name.first.attributes, (Cells({{5}, {6}})));
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
    expect_holds(message("a,b,y\n1,2,p\n1,2,\n"), {"line 3, column 'y'", "label is missing", "fill it in"});
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
    expect_holds(message("a,b\n1e309,x\n"), {"line 2, column 'a'", "infinite", "scale"});
    expect_holds(message("a,b\ninf,x\n"), {"line 2, column 'a'", "infinite"});
    expect_holds(message("a,b\n1,\n2,?\n"), {"no row has a label in column 'b'", "--label"});
    expect_holds(message("1,\n2,?\n", {.numeric_label = true}), {"no row has a label in column 'column 2'"});
    expect_holds(message("a,b,c\n1,,x\n2,NA,y\n"), {"column 'b' has no value in any of the 2 rows", "--ignore 2"});
    expect_holds(message("1;2;3\n4;5;6\n"), {"no column to compute distances from", "--delimiter"});
    expect_holds(message("1,2\n3,oops\n", {.numeric_label = true}), {"line 2, column 'column 2'", "'oops'"});
    expect_holds(message("a,b\n\x1b[31mred,x\n3,y\n", {.nominal = {}, .max_bytes = 16}),
                 {"t.csv: line 3", "2 rows of 16 bytes", "memory budget is 16 bytes", "--memory"});
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
    EXPECT_EQ(table.rows.attributes.column(0), (std::vector<double>{0, 1, 0}));
}

TEST(Table, TargetsOfARegressionAreNumbers) {
    const TemporaryFolder folder;
    const Table table = read_table(folder.file("t.csv", "a,y\n1,0.5\n2,-3\n"), {.numeric_label = true});
    EXPECT_EQ(table.rows.targets, (std::vector<double>{0.5, -3}));
    EXPECT_TRUE(table.rows.classes.empty());
}

TEST(Table, NumbersAreDoubles) {
    const TemporaryFolder folder;
    const Table table = read_table(folder.file("t.csv", "seconds,y\n1700000001,1e39\n1700000001.25,-1e-400\n"),
                                   {.numeric_label = true});
    EXPECT_EQ(table.rows.attributes.column(0), (std::vector<double>{1700000001, 1700000001.25}));
    EXPECT_EQ(table.rows.targets, (std::vector<double>{1e39, 0})) << "what is too small is zero";
}

TEST(Table, WholeColumnsDecideWhatTheyHold) {
    const TemporaryFolder folder;
    // Every usual spelling of missing in the first row, where it once made the column nominal.
    for (const char* missing :
         {"", "?", "-", "NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "None", "nan", "NaN"}) {
        SCOPED_TRACE(missing);
        const Table table =
            read_table(folder.file("t.csv", "a,b,y\n" + std::string(missing) + ",red,p\n1.5,12,q\n-2,blue,p\n"), {});
        EXPECT_EQ(table.schema.attributes[0].kind, ColumnKind::numeric);
        EXPECT_EQ(table.schema.attributes[0].missing, 1);
        EXPECT_TRUE(std::isnan(table.rows.attributes.at(0, 0)));
        EXPECT_EQ(table.rows.attributes.at(2, 0), -2);
        EXPECT_EQ(table.schema.attributes[1].kind, ColumnKind::nominal) << "most of it is text";
    }
}

TEST(Table, WordsForMissingMayBeChosen) {
    const TemporaryFolder folder;
    const auto path = folder.file("t.csv", "pool,area,y\nNone,unknown,-\nGood,5,+\nNone,6,-\n");
    expect_holds(message_of<BadFile>([&] { read_table(path, {}); }),
                 {"line 2, column 'area'", "'unknown' is not a number", "--missing"});
    const Table table = read_table(path, {.missing = {"unknown"}});
    EXPECT_EQ(table.schema.attributes[0].values, (std::vector<std::string>{"None", "Good"}));
    EXPECT_EQ(table.schema.attributes[1].missing, 1);
    EXPECT_EQ(table.schema.label.values, (std::vector<std::string>{"+", "-"}));
    // A class may be called - or None without being asked for; that a label is missing is never silent.
    EXPECT_EQ(read_table(path, {.ignored = {"area"}}).schema.label.values.size(), 2U);
    EXPECT_EQ(read_table(path, {.ignored = {"area"}, .missing = {"-"}}).unlabelled.rows, 2);
}

struct Labels {
    const char *name, *text;
    std::vector<double> values;        ///< of the first attribute
    std::vector<std::size_t> numbers;  ///< of the rows that are left
    std::int64_t skipped, first_line;
    bool numeric = false;
};

class RowsWithoutALabel : public testing::TestWithParam<Labels> {};

TEST_P(RowsWithoutALabel, AreSkippedAndCounted) {
    const TemporaryFolder folder;
    const Table table = read_table(folder.file("t.csv", GetParam().text), {.numeric_label = GetParam().numeric});
    EXPECT_EQ(table.rows.attributes.column(0), GetParam().values);
    EXPECT_EQ(std::max(table.rows.classes.size(), table.rows.targets.size()), table.rows.size());
    EXPECT_EQ(table.numbers, GetParam().numbers);
    EXPECT_EQ(table.unlabelled.rows, GetParam().skipped);
    EXPECT_EQ(table.unlabelled.first_line, GetParam().first_line);
}

INSTANTIATE_TEST_SUITE_P(
    Table, RowsWithoutALabel,
    testing::Values(Labels{"None", "a,y\n1,p\n2,q\n", {1, 2}, {}, 0, 0},
                    Labels{"UnderAHeader", "a,y\n1,p\n2,\n3,q\n4,NA\n5,p\n", {1, 3, 5}, {0, 2, 4}, 2, 3},
                    Labels{"FirstRowOfAll", "1,?\n2,p\n3,\n4,q\n", {2, 4}, {1, 3}, 2, 1},
                    Labels{"FirstRowStays", "1,p\n2,\n3,q\n", {1, 3}, {0, 2}, 1, 2},
                    Labels{"OnlyTheFirstRow", "1,\n2,p\n3,q\n", {2, 3}, {1, 2}, 1, 1},
                    Labels{"Numbers", "a,y\n1,10\n2,?\n3,30\n", {1, 3}, {0, 2}, 1, 3, true},
                    Labels{"ScikitLearn", "3,1,no,yes\n1,0\n2,\n3,1\n", {1, 3}, {0, 2}, 1, 3}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(Table, UnknownValuesMayBeIgnored) {
    const TemporaryFolder folder;
    const TableOptions options{.ignore_unknown = true};
    const Table train = read_table(folder.file("train.csv", kWeather), options);
    TableReader reader(folder.file("test.csv", "temperature,sky,play\n1,fog,no\n2,hail,no\n3,rain,no\n"), options,
                       train.schema);
    Rows rows;
    ASSERT_TRUE(reader.read(rows, 10));
    const auto& known = train.schema.attributes[1].values;
    EXPECT_EQ(rows.attributes.at(0, 1), static_cast<double>(known.size()));
    EXPECT_EQ(rows.attributes.at(1, 1), static_cast<double>(known.size()));
    EXPECT_EQ(known[static_cast<std::size_t>(rows.attributes.at(2, 1))], "rain");
    EXPECT_EQ(reader.schema().attributes[1].unknown, 2);
    // A class must be known all the same, and what may be a header must be told.
    TableReader classes(folder.file("test.csv", "temperature,sky,play\n1,fog,maybe\n"), options, train.schema);
    expect_holds(message_of<BadFile>([&] { classes.read(rows, 10); }), {"class 'maybe' does not occur"});
    const Table names = read_table(folder.file("names.csv", "red,p\nblue,q\nred,p\n"), options);
    const std::string path = folder.file("test.csv", "green\nred\n");
    expect_holds(message_of<BadFile>([&] { TableReader(path, options, names.schema); }),
                 {"line 1 may be a header or a row", "--header", "--no-header"});
    TableOptions row = options;
    row.header = TableOptions::Header::absent;
    rows = {};
    EXPECT_TRUE(TableReader(path, row, names.schema).read(rows, 10));
    EXPECT_EQ(rows.attributes.at(0, 0), 2);
    EXPECT_EQ(names.schema.attributes[0].values[static_cast<std::size_t>(rows.attributes.at(1, 0))], "red");
}

TEST(StandardScale, CentresAndDividesByTheTrainingRowsDeviation) {
    const Schema schema{.attributes = {{"x", 0, ColumnKind::numeric},
                                       {"sky", 1, ColumnKind::nominal},
                                       {"constant", 2, ColumnKind::numeric},
                                       {"empty", 3, ColumnKind::numeric}},
                        .label = {}};
    Rows train{.attributes = Cells({{1, NAN, 3, 5}, {0, 1, 0, 1}, {0.1, 0.1, 0.1, 0.1}, {NAN, NAN, NAN, NAN}}),
               .classes = {},
               .targets = {}};
    const StandardScale scale("train.csv", schema, train);
    scale.apply("train.csv", train);
    const double deviation = std::sqrt(8.0 / 3);  // of the population: 1, 3, 5 around 3
    EXPECT_DOUBLE_EQ(train.attributes.at(0, 0), -2 / deviation);
    EXPECT_TRUE(std::isnan(train.attributes.at(1, 0)));
    EXPECT_EQ(train.attributes.column(1), (std::vector<double>{0, 1, 0, 1}));
    for (const double value : train.attributes.column(2)) EXPECT_NEAR(value, 0, 1e-16);
    Rows test{.attributes = Cells({{4}, {1}, {1.1}, {7}}), .classes = {}, .targets = {}};
    scale.apply("test.csv", test);
    EXPECT_DOUBLE_EQ(test.attributes.at(0, 0), 1 / deviation);
    EXPECT_DOUBLE_EQ(test.attributes.at(0, 2), 1.0);
    EXPECT_EQ(test.attributes.at(0, 3), 7);
    train.attributes.set_column(0, std::vector<double>{1e200, -1e200, 0, 0});
    expect_holds(message_of<BadFile>([&] { StandardScale("train.csv", schema, train); }),
                 {"train.csv: column 'x'", "too wide", "--scale standard"});
    train.attributes.set_column(0, std::vector<double>{1e-150, 0, 0, 0});
    test.attributes.set_column(0, std::vector<double>{1e300});
    const StandardScale narrow("train.csv", schema, train);
    expect_holds(message_of<BadFile>([&] { narrow.apply("test.csv", test); }), {"test.csv: column 'x'", "infinite"});
}

TEST(Table, DecimalCommasAreOffered) {
    const TemporaryFolder folder;
    const auto path = folder.file("t.csv", "a;b;y\n12,8;1;p\n13;2;q\n-0,5;3;p\n");
    expect_holds(message_of<BadFile>([&] { read_table(path, {.delimiter = ';'}); }),
                 {"t.csv: line 2, column 'a'", "'12,8'", "--decimal ','"});
    const Table table = read_table(path, {.delimiter = ';', .decimal = ','});
    EXPECT_EQ(table.rows.attributes.column(0), (std::vector<double>{12.8, 13, -0.5}));
    TableReader reader(folder.file("test.csv", "a;b\n7,25;1\n"), {.delimiter = ';', .decimal = ','}, table.schema);
    Rows rows;
    reader.read(rows, 10);
    EXPECT_EQ(rows.attributes.column(0), (std::vector<double>{7.25}));
    // One among points, quoted, in a table to predict for, in a target; points where commas are the rule.
    expect_holds(message_of<BadFile>([&] { read_table(folder.file("t.csv", "a,y\n1.5,p\n\"2,5\",q\n3,p\n"), {}); }),
                 {"line 3", "'2,5'", "--decimal ','"});
    TableReader point(folder.file("test.csv", "a;b\n7.25;1\n"), {.delimiter = ';', .decimal = ','}, table.schema);
    expect_holds(message_of<BadFile>([&] { point.read(rows, 10); }), {"line 2", "'7.25'", "--decimal '.'"});
    expect_holds(message_of<BadFile>([&] {
                     read_table(folder.file("t.csv", "a;y\n1;2,5\n"), {.delimiter = ';', .numeric_label = true});
                 }),
                 {"line 2, column 'y'", "--decimal ','"});
}

TEST(Table, AHeaderWithNumbersIsNoRow) {
    const TemporaryFolder folder;
    const auto table = [&](const std::string& text, TableOptions options = {}) {
        return read_table(folder.file("t.csv", text), options);
    };
    const Table years = table("region,2019,2020,y\n1,3,4,p\n2,5,6,q\n");
    EXPECT_EQ(years.rows.size(), 2U);
    EXPECT_EQ(years.schema.attributes[1].name, "2019");
    expect_holds(years.header, {"line 1 is a header", "'region' is no number"});
    // A row like the others, whatever it holds.
    for (const char* rows : {"1,2,x\n3,4,y\n", "N/A,2,x\n3,4,y\n", "?,red\n5,blue\n6,red\n", "5,x\n6,x\n",
                             "red,red,x\nblue,red,y\nred,blue,x\n"}) {
        const Table data = table(rows);
        EXPECT_FALSE(data.schema.named) << rows << data.header;
        expect_holds(data.header, {"line 1 is a row"});
    }
    EXPECT_TRUE(std::isnan(table("N/A,2,x\n3,4,y\n").rows.attributes.at(0, 0))) << "the first row comes first";
    EXPECT_EQ(table("1,2,x\n3,4,y\n").rows.attributes.column(0), (std::vector<double>{1, 3}));
    // An option that names a column by this line decides.
    EXPECT_EQ(table("2019,2020,class\n3,4,y\n", {.label = "class"}).rows.size(), 1U);
}

TEST(Table, WhereNothingTellsTheHeaderIsAskedFor) {
    const TemporaryFolder folder;
    const auto message = [&](const char* text) {
        return message_of<BadFile>([&] { read_table(folder.file("t.csv", text), {}); });
    };
    // Years over numbers, and a name that no class has.
    expect_holds(message("2019,2020,class\n3,4,p\n5,6,q\n7,8,p\n9,1,q\n"),
                 {"t.csv: line 1 may be a header or a row", "'class' stands nowhere else", "--header", "--no-header"});
    // A word for missing that nobody knows, in a row of a known class.
    expect_holds(message("unknown,p\n5,q\n6,p\n"), {"'unknown' is no number", "'p' stands in its column again"});
    using H = TableOptions::Header;
    EXPECT_EQ(read_table(folder.file("t.csv", "2019,2020,class\n3,4,p\n5,6,p\n"), {.header = H::absent}).rows.size(),
              3U);
    // A column that an option names by number, where a header turns out to hold this number.
    expect_holds(message_of<BadFile>(
                     [&] { read_table(folder.file("t.csv", "a,1,b,y\n3,4,5,p\n5,6,7,q\n"), {.ignored = {"1"}}); }),
                 {"has this number as its name", "--header"});
}

TEST(Table, ATestFileMayHaveNumbersInItsHeader) {
    const TemporaryFolder folder;
    const Table train = read_table(folder.file("train.csv", "id,2019,y\n1,2,p\n3,4,q\n"), {});
    const auto rows_of = [&](const char* text) {
        TableReader reader(folder.file("test.csv", text), {}, train.schema);
        Rows rows;
        reader.read(rows, 100);
        return rows.attributes;
    };
    EXPECT_EQ(rows_of("id,2019\n5,6\n"), (Cells({{5}, {6}})));
    EXPECT_EQ(rows_of("2019,id\n6,5\n"), (Cells({{5}, {6}})));
    EXPECT_EQ(rows_of("5,6\n7,8\n"), (Cells({{5, 7}, {6, 8}})));
    expect_holds(message_of<BadFile>([&] { rows_of("id,2020\n5,6\n"); }), {"column '2020' is not in the training"});
    const Table words = read_table(folder.file("words.csv", "sky,c\nred,a\nblue,b\nred,a\n"), {});
    TableReader reader(folder.file("test.csv", "blue,a\n"), {}, words.schema);
    Rows rows;
    EXPECT_TRUE(reader.read(rows, 10)) << "a row without a number is no header if its words are known";
}

TEST(Table, ASummaryTellsWhatEachColumnWasTakenFor) {
    const TemporaryFolder folder;
    const Table table = read_table(folder.file("w.csv", kWeather), {});
    EXPECT_EQ(summary_of("w.csv", table, 20),
              (std::vector<std::string>{
                  "w.csv: 5 rows; line 1 is a header: 'temperature' is no number, as the rest of its column is",
                  "  temperature: numeric, 18 to 30, 2 missing", "  sky: nominal, 2 categories: sunny, rain, 2 missing",
                  "  play: label, 2 classes: no, yes"}));
    const auto wide = summary_of("i.csv", read_table(folder.file("i.csv", "1,2,3,4,5,a\n6,7,8,?,9,a\n"), {}), 3);
    ASSERT_EQ(wide.size(), 5U);
    EXPECT_EQ(summary_of("z.csv", read_table(folder.file("z.csv", "x,y\n-0.0,a\n-1,b\n"), {}), 3)[1],
              "  x: numeric, -1 to 0");
    EXPECT_EQ(wide[3], "  and 3 more columns: 3 numeric, 0 nominal, 1 cell missing");
    EXPECT_EQ(wide[4], "  column 6: label, 1 class: a");
}

}  // namespace
}  // namespace espalier::bench::io
