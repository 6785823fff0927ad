// What a column of a table is taken for: numbers, names, or an error that names the option which decides.

#include <gtest/gtest.h>

#include <cmath>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/tables/table.hpp"
#include "harness/apps/tables/table_summary.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::io {
namespace {

using Values = std::vector<double>;
using Texts = std::vector<std::string>;

class Columns : public testing::Test {
protected:
    [[nodiscard]] Table read(const std::string& text, const TableOptions& options = {}) const {
        return read_table(folder.file("t.csv", text), options);
    }
    [[nodiscard]] std::string refusal(const std::string& text, const TableOptions& options = {}) const {
        return message_of<BadFile>([&] { static_cast<void>(read(text, options)); });
    }
    [[nodiscard]] Rows read_test(const Table& train, const std::string& text, const TableOptions& options = {},
                                 bool* has_label = nullptr) const {
        TableReader reader(folder.file("test.csv", text), options, train.schema);
        Rows rows;
        while (reader.read(rows, 2)) {
        }
        if (has_label) *has_label = reader.schema().has_label;
        return rows;
    }
    [[nodiscard]] std::string test_refusal(const Table& train, const std::string& text,
                                           const TableOptions& options = {}) const {
        return message_of<BadFile>([&] { static_cast<void>(read_test(train, text, options)); });
    }

    TemporaryFolder folder;
};

struct Refused {
    const char *name, *cells;  ///< of the first column, quoted where they hold commas; the others are labels
    const char* option;        ///< that the error names beside --nominal and --ignore
    TableOptions options = {};
};

class AmountsWithoutAnOption : public Columns, public testing::WithParamInterface<Refused> {};

std::string table_of(const std::string& cells) {
    std::string text = "v,y\n";
    char label = 'p';
    for (std::size_t from = 0; from < cells.size();) {
        const auto end = std::min(cells.find('|', from), cells.size());
        text.append("\"").append(cells.substr(from, end - from)).append("\",").append(1, label).append("\n");
        label = label == 'p' ? 'q' : 'p';
        from = end + 1;
    }
    return text;
}

TEST_P(AmountsWithoutAnOption, AreRefused) {
    const std::string message = refusal(table_of(GetParam().cells), GetParam().options);
    expect_holds(message, {"t.csv: line ", "column 'v'", GetParam().option, "--nominal 1"});
    TableOptions nominal = GetParam().options;
    nominal.nominal = {"v"};
    EXPECT_EQ(read(table_of(GetParam().cells), nominal).schema.attributes[0].kind, ColumnKind::nominal);
}

INSTANTIATE_TEST_SUITE_P(
    Columns, AmountsWithoutAnOption,
    testing::Values(Refused{"Thousands", "1,200|24,320|1,200", "--thousands ','"},
                    Refused{"ThousandsAndDecimals", "24,320.53|54,334.46|37,255.61", "--thousands ','"},
                    Refused{"Millions", "1,200,300|2,400,500", "--thousands ','"},
                    Refused{"Indian", "12,34,567|1,23,456", "--thousands ','"},
                    Refused{"AmongPlainNumbers", "1,200|900|850|1,100", "--thousands ','"},
                    Refused{"Spaces", "1 200|24 320", "--thousands space"},
                    Refused{"ThinSpaces",
                            "1\xE2\x80\xAF"
                            "200|24\xE2\x80\xAF"
                            "320",
                            "--thousands space"},
                    Refused{"Apostrophes", "1'200|24'320", "--thousands \"'\""},
                    Refused{"Underscores", "1_000|2_000", "--thousands '_'"},
                    Refused{"PointsUnderDecimalCommas", "1.299,50|2.400,10", "--thousands '.'", {.decimal = ','}},
                    Refused{"PointsAndCommas", "1.234.567,8|2.400,10", "--decimal ',' --thousands '.'"},
                    Refused{"Dollars", "$1200|$900|$1200", "--numeric 1"},
                    Refused{"Euros", "12 \xE2\x82\xAC|7 \xE2\x82\xAC|12 \xE2\x82\xAC", "--numeric 1"},
                    Refused{"Codes", "USD 12|USD 7|USD 12", "--numeric 1"},
                    Refused{"PerCent", "12%|7%|12%|7%", "--numeric 1"},
                    Refused{"Parentheses", "(12)|(7)|(12)", "--numeric 1"},
                    Refused{"GroupedDollars", "$1,200|$24,320.50", "--numeric 1 --thousands ','"},
                    Refused{"Dates", "2024-12-31|2024-01-01|2024-12-31", "--numeric 1"},
                    Refused{"DateTimes", "2024-12-31T12:00:00|2024-01-01T00:30:00", "--numeric 1"},
                    Refused{"Times", "23:59|12:00|12:00", "--numeric 1"},
                    Refused{"CustomaryDates", "31/12/2024|01/01/2024|31/12/2024", "write it as 2024-12-31"},
                    Refused{"AmericanDates", "12/31/2024|1/1/2024", "write it as 2024-12-31"},
                    Refused{"MostAreAmounts", "$12|$7|$12|free", "--numeric 1"}),
    [](const auto& param) { return std::string(param.param.name); });

struct Read {
    const char *name, *cells;
    TableOptions options;
    Values values;
};

class NumbersByOption : public Columns, public testing::WithParamInterface<Read> {};

TEST_P(NumbersByOption, AreRead) {
    const Table table = read(table_of(GetParam().cells), GetParam().options);
    EXPECT_EQ(table.schema.attributes[0].kind, ColumnKind::numeric);
    EXPECT_EQ(table.rows.attributes.column(0), GetParam().values);
    EXPECT_EQ(read_test(table, table_of(GetParam().cells), GetParam().options).attributes.column(0), GetParam().values);
}

INSTANTIATE_TEST_SUITE_P(
    Columns, NumbersByOption,
    testing::Values(Read{"Thousands", "1,200|900|1,200,300.5", {.thousands = ','}, {1200, 900, 1200300.5}},
                    Read{
                        "Points", "1.299,50|7|1.234.567,8", {.decimal = ',', .thousands = '.'}, {1299.5, 7, 1234567.8}},
                    Read{"Spaces",
                         "1 200|1\xC2\xA0"
                         "200|7",
                         {.thousands = ' '},
                         {1200, 1200, 7}},
                    Read{"Dollars", "$1200|-$5|($7)", {.numeric = {"v"}}, {1200, -5, -7}},
                    Read{"GroupedDollars", "$1,200|$5", {.thousands = ',', .numeric = {"1"}}, {1200, 5}},
                    Read{"PerCent", "12%|7.5 %", {.numeric = {"v"}}, {12, 7.5}},
                    Read{"Dates", "1970-01-03|1970-01-01T12:00", {.numeric = {"v"}}, {2, 0.5}},
                    Read{"Units", "12 kg|3kg", {.numeric = {"v"}}, {12, 3}},
                    Read{"PlainNumbers", "12|3.5", {.numeric = {"v"}}, {12, 3.5}}),
    [](const auto& param) { return std::string(param.param.name); });

TEST_F(Columns, UnitsDoNotMix) {
    const TableOptions options{.numeric = {"v"}};
    expect_holds(refusal("v,y\n$5,p\n7,q\n", options), {"line 3, column 'v'", "'7'", "without a unit", "'$'"});
    expect_holds(refusal("v,y\n$5,p\n\xE2\x82\xAC"
                         "7,q\n",
                         options),
                 {"line 3", "one unit"});
    expect_holds(refusal("v,y\n12%,p\n0.12,q\n", options), {"line 3", "'%'"});
    expect_holds(refusal("v,y\n2024-12-31,p\n2024-12-31T00:00Z,q\n", options), {"line 3", "with a time zone"});
    expect_holds(refusal("v,y\n2024-12-31,p\n12:00,q\n", options), {"line 3", "a time of day", "a date"});
    expect_holds(refusal("v,y\n$5,p\nfree,q\n", options), {"line 3", "'free' is not a number", "--missing"});
    const Table dollars = read("v,y\n$5,p\n$7,q\n", options);
    expect_holds(test_refusal(dollars, "v\n7\n", options), {"test.csv: line 2, column 'v'", "'$'"});
    const Table plain = read("v,y\n5,p\n7,q\n");
    expect_holds(test_refusal(plain, "v\n$7\n"), {"line 2, column 'v'", "'$7' is not a number", "--numeric 1"});
    expect_holds(test_refusal(plain, "v\n\"1,200\"\n"), {"'1,200'", "--thousands ','"});
    expect_holds(refusal("v,y\n5,p\n", {.nominal = {"v"}, .numeric = {"v"}}), {"both --nominal and --numeric"});
    expect_holds(refusal("v,y\n5,1\n", {.numeric = {"y"}}), {"'y' is the label", "--regression"});
    EXPECT_EQ(read("v,y\n5,$1\n6,$2\n", {.numeric_label = true, .numeric = {"y"}}).rows.targets, (Values{1, 2}));
    expect_holds(refusal("v,y\n5,\"1,000\"\n", {.numeric_label = true}), {"'1,000'", "--thousands ','"});
}

TEST_F(Columns, NamesMayHoldDigits) {
    for (const char* cells : {"30-39|40-49|30-39", "A1|A2|A1", "1st|2nd|1st", "S|M|L|S", "<5|>65|<5",
                              "12 kg|5 kg|12 kg", "0x1F|0x20|0x1F", "1.2.3|1.2.4|1.2.3"})
        EXPECT_EQ(read(table_of(cells)).schema.attributes[0].kind, ColumnKind::nominal) << cells;
}

TEST_F(Columns, TextsThatAreNearlyAllDifferentAreRefused) {
    const auto table = [](int different, int same) {
        std::string text = "name,y\n";
        for (int i = 0; i < different; ++i) text.append("n").append(std::to_string(i)).append(i % 2 ? ",p\n" : ",q\n");
        for (int i = 0; i < same; ++i) text += "n0,p\n";
        return text;
    };
    for (const auto& [different, same] : {std::pair{10, 0}, {18, 0}, {19, 1}, {200, 10}})
        expect_holds(refusal(table(different, same)),
                     {"column 'name'", "nearly all different", "--ignore 1", "--numeric 1", "--nominal 1"});
    for (const auto& [different, same] : {std::pair{5, 0}, {9, 0}, {9, 3}, {100, 100}})
        EXPECT_EQ(read(table(different, same)).schema.attributes[0].kind, ColumnKind::nominal) << different;
    EXPECT_EQ(read(table(30, 0), {.nominal = {"name"}}).schema.attributes[0].values.size(), 30U);
    EXPECT_EQ(read(table(30, 0), {.label = "name", .nominal = {"y"}}).schema.label.values.size(), 30U) << "classes";
}

TEST_F(Columns, LabelsThatAreNumbersCompareAsNumbers) {
    const Table train = read("x,y\n1,0\n2,0.0\n3,1\n4,1e0\n5,+1\n6,1.0\n");
    EXPECT_EQ(train.schema.label.values, (Texts{"0", "1"}));
    EXPECT_EQ(train.rows.classes, (std::vector<std::int32_t>{0, 0, 1, 1, 1, 1}));
    EXPECT_EQ(read_test(train, "x,y\n1,0.000\n2,-0\n3,10e-1\n").classes, (std::vector<std::int32_t>{0, 0, 1}));
    expect_holds(test_refusal(train, "x,y\n1,1.5\n"), {"class '1.5' does not occur", "known: 0, 1"});
    // Beyond 2^53 every whole number is a class of its own, in its order.
    const Table large = read(
        "x,y\n1,9007199254740993\n2,9007199254740992\n3,9007199254740993.0\n4,-9007199254740993\n"
        "5,-9007199254740992\n");
    EXPECT_EQ(large.schema.label.values,
              (Texts{"-9007199254740993", "-9007199254740992", "9007199254740992", "9007199254740993"}));
    EXPECT_EQ(large.rows.classes, (std::vector<std::int32_t>{3, 2, 3, 0, 1}));
    // Zeros in front make a text.
    const Table codes = read("x,y\n1,007\n2,7\n3,007\n4,7.0\n");
    EXPECT_EQ(codes.schema.label.values, (Texts{"7", "007"}));
    EXPECT_EQ(codes.rows.classes, (std::vector<std::int32_t>{1, 0, 1, 0}));
    expect_holds(test_refusal(codes, "x,y\n1,07\n"), {"class '07' does not occur"});
    // Numbers as the options have them.
    const TableOptions german{.delimiter = ';', .decimal = ',', .thousands = '.'};
    EXPECT_EQ(read("x;y\n1;1.000\n2;1000,0\n3;1,5\n", german).schema.label.values, (Texts{"1,5", "1.000"}));
    // Texts that only begin as numbers do.
    EXPECT_EQ(read("x,y\n1,1a\n2,1.0a\n3,1\n").schema.label.values, (Texts{"1", "1.0a", "1a"}));
    // The numbers of scikit-learn's classes.
    const Table scikit = read("2,1,no,yes\n5,1.0\n6,0\n");
    EXPECT_EQ(scikit.rows.classes, (std::vector<std::int32_t>{1, 0}));
}

TEST_F(Columns, CodesThatAreNumbersCompareAsNumbers) {
    const TableOptions options{.nominal = {"zip"}};
    const Table train = read("zip,y\n10115,a\n10115.0,b\n70173,a\n01067,b\n", options);
    EXPECT_EQ(train.schema.attributes[0].values, (Texts{"10115", "70173", "01067"}));
    EXPECT_EQ(train.rows.attributes.column(0), (Values{0, 0, 1, 2}));
    EXPECT_EQ(read_test(train, "zip\n70173.0\n1.0115e4\n01067\n", options).attributes.column(0), (Values{1, 0, 2}));
    expect_holds(test_refusal(train, "zip\n1067\n", options), {"value '1067' does not occur"});
    // Without an option, among more texts.
    const Table mixed = read("m,y\na,p\nb,q\n7.0,p\n7,q\na,p\nb,q\nc,p\nc,q\n-0,p\n0,q\na,p\n");
    EXPECT_EQ(mixed.schema.attributes[0].values, (Texts{"a", "b", "7", "c", "0"}));
    EXPECT_EQ(mixed.rows.attributes.column(0), (Values{0, 1, 2, 2, 0, 1, 3, 3, 4, 4, 0}));
    EXPECT_EQ(read_test(mixed, "m\n7e0\nc\n").attributes.column(0), (Values{2, 3}));
    // A number whose spelling would be lost.
    expect_holds(refusal("m,y\na,p\nb,q\n007,p\na,q\nb,p\n"), {"line 4, column 'm'", "'007'", "--nominal 1"});
    EXPECT_EQ(read("m,y\na,p\nb,q\n007,p\n7,q\nb,p\n", {.nominal = {"m"}}).schema.attributes[0].values,
              (Texts{"a", "b", "007", "7"}));
    // The first line, which is a row, comes first.
    const Table row = read("7,p\na,q\n7.0,p\na,q\nb,p\nb,p\n");
    EXPECT_EQ(row.schema.attributes[0].values, (Texts{"7", "a", "b"}));
    EXPECT_EQ(row.rows.attributes.column(0), (Values{0, 1, 0, 1, 2, 2}));
}

TEST_F(Columns, LiteralsBeyondTheTypeAreRefused) {
    const std::string zeros(700, '0');
    for (const std::string& cell : {"1" + zeros + "e-300", std::string("1e400"), std::string("-1e400"),
                                    std::string("inf"), std::string("-Infinity")})
        expect_holds(refusal("v,y\n1,p\n" + cell + ",q\n"), {"line 3, column 'v'", "infinite"});
    EXPECT_EQ(read("v,y\n0." + zeros + "123,p\n1e-400,q\n5e-324,q\n").rows.attributes.column(0),
              (Values{0, 0, 5e-324}));
    expect_holds(refusal("v,y\n1,p\n2,q\n0x1F,p\n"), {"line 4", "'0x1F' is not a number"});
}

TEST_F(Columns, ALabelThatIsEmptyThroughoutIsNone) {
    const Table train = read("x,y,t\n1,2,a\n3,4,b\n5,6,a\n");
    bool has_label = true;
    for (const char* text : {"x,y,t\n1,2,\n4,4,\n", "t,y,x\n,2,1\nNA,4,4\n?,4,4\n", "1,2,\n4,4,\n", "x,y,t\n1,2,\n"}) {
        const Rows rows = read_test(train, text, {}, &has_label);
        EXPECT_FALSE(has_label) << text;
        EXPECT_TRUE(rows.classes.empty());
        EXPECT_EQ(rows.attributes.at(0, 0), 1);
    }
    EXPECT_EQ(read_test(train, "x,y,t\n1,2,a\n4,4,b\n", {}, &has_label).size(), 2U);
    EXPECT_TRUE(has_label);
    expect_holds(test_refusal(train, "x,y,t\n1,2,\n4,4,b\n"), {"line 3, column 't'", "all of them, or none"});
    expect_holds(test_refusal(train, "x,y,t\n1,2,a\n4,4,\n"), {"line 3, column 't'", "the label is missing"});
    const Table words = read("x,t\nred,a\nblue,b\nred,a\n");
    EXPECT_EQ(read_test(words, "blue,\nred,\n", {}, &has_label).attributes.column(0), (Values{1, 0})) << "no header";
    EXPECT_FALSE(has_label);
    const TableOptions regression{.numeric_label = true};
    const Table numbers = read("x,t\n1,2.5\n2,3.5\n", regression);
    EXPECT_EQ(read_test(numbers, "x,t\n1,\n2,\n", regression, &has_label).size(), 2U);
    EXPECT_FALSE(has_label);
}

TEST_F(Columns, WhatOnlyTheTestTableHasMayBeLeftOut) {
    const TableOptions options{.ignored = {"note"}, .ignored_elsewhere = true};
    const Table train = read("x,y\n1,a\n2,b\n", options);
    EXPECT_EQ(read_test(train, "note,x\nhello,1\nyou,2\n", options).attributes.column(0), (Values{1, 2}));
    EXPECT_EQ(read_test(train, "x,note,y\n1,hello,a\n", options).classes, (std::vector<std::int32_t>{0}));
    expect_holds(test_refusal(train, "x\n1\n", options), {"test.csv", "'note' for --ignore", "nor has the training"});
    expect_holds(refusal("x,y\n1,a\n", {.ignored = {"note"}}), {"has no column 'note' for --ignore"});
    const TableOptions both{.ignored = {"note", "id"}, .ignored_elsewhere = true};
    const Table with_id = read("id,x,y\n1,1,a\n2,2,b\n", both);
    EXPECT_EQ(with_id.schema.attributes.size(), 1U);
    EXPECT_EQ(read_test(with_id, "x,note\n1,hello\n", both).attributes.column(0), (Values{1}));
}

TEST_F(Columns, AllEmptyColumnsAreNamedAtOnce) {
    expect_holds(refusal("a,b,c,d,y\n1,,x,NA,p\n2,?,z,,q\n"),
                 {"columns 'b', 'd' have no value in any of the 2 rows", "--ignore 2,4"});
    expect_holds(refusal("a,,,y\n1,,,p\n2,,,q\n3,,,q\n"), {"'column 2', 'column 3'", "--ignore 2,3"});
    expect_holds(refusal("a,b,y\n1,,p\n2,,q\n", {.numeric = {"b"}}), {"column 'b' has no value", "--ignore 2"});
    EXPECT_EQ(read("a,b,c,d,y\n1,,x,,p\n2,,x,,q\n", {.ignored = {"2", "4"}}).schema.attributes.size(), 2U);
}

TEST_F(Columns, CodesThatDoublesCannotTellApartAreHintedAt) {
    const auto hints = [&](const std::string& text) { return hints_of(read(text)); };
    for (const char* table :
         {"c,f,y\n1234567890123456789,5,p\n1234567890123456790,3,q\n1234567890123456789,1,q\n",
          "c,f,y\n9007199254740993,5,p\n1,3,q\n1,4,q\n", "c,f,y\n-9007199254740993,5,p\n,3,q\n7,4,q\n"}) {
        const auto found = hints(table);
        ASSERT_EQ(found.size(), 1U) << table;
        expect_holds(found[0], {"column 'c'", "beyond 9007199254740992", "--nominal 1"});
    }
    for (const char* table : {"c,f,y\n9007199254740991,5,p\n1,3,q\n1,4,q\n", "c,f,y\n1e25,5,p\n1,3,q\n1,4,q\n",
                              "c,f,y\n1234567890123456789,5,p\n0.5,3,q\n1,4,q\n"})
        EXPECT_TRUE(hints(table).empty()) << table;
}

TEST_F(Columns, AnIndexIsHintedAt) {
    const auto hints = [&](const std::string& text, const TableOptions& options = {}) {
        return hints_of(read(text, options));
    };
    for (const char* table : {",f,y\n0,5,p\n1,3,q\n2,9,p\n", "Unnamed: 0,f,y\n0,5,p\n1,3,q\n2,9,p\n",
                              "Unnamed: 0,f,y\n7,5,p\n3,3,q\n0,9,p\n", "id,f,y\n103,5,p\n101,3,q\n155,9,p\n",
                              "Index,f,y\n10,5,p\n20,3,q\n30,9,p\n", "n,f,y\n1,5,p\n2,3,q\n3,9,p\n",
                              "0,5,p\n1,3,q\n2,9,p\n", ",f,y\n0,5,p\n1,3,\n2,9,p\n3,4,q\n"}) {
        const auto found = hints(table);
        ASSERT_EQ(found.size(), 1U) << table;
        expect_holds(found[0], {"hint: column '", "numbers the rows", "--ignore 1"});
    }
    for (const char* table : {"n,f,y\n1,5,p\n2,3,q\n4,9,p\n", "id,f,y\n1,5,p\n1,3,q\n2,9,p\n", "n,f,y\n0,5,p\n1,3,q\n",
                              "id,f,y\n0.5,5,p\n1.5,3,q\n2.5,1,q\n4,9,p\n"})
        EXPECT_TRUE(hints(table).empty()) << table;
    EXPECT_TRUE(hints(",f,y\n0,5,p\n1,3,q\n2,9,p\n", {.ignored = {"1"}}).empty());
    // Two at once, and a label that is a number to predict.
    EXPECT_EQ(hints("id,n,f,y\n5,1,5,p\n9,2,3,q\n7,3,9,p\n").size(), 2U);
    std::string targets = "f,y\n";
    for (int i = 0; i < 30; ++i) targets += std::to_string(i * i) + "," + std::to_string(i) + ".5\n";
    ASSERT_EQ(hints(targets).size(), 1U);
    expect_holds(hints(targets)[0], {"'y' has 30 classes in 30 rows", "--regression"});
}

TEST_F(Columns, ASummaryNamesUnits) {
    const Table table = read("a,b,c,y\n$5,1970-01-03,12:00,p\n$7,1970-01-04,06:00,q\n", {.numeric = {"a", "b", "c"}});
    const auto lines = summary_of("t.csv", table, 20);
    EXPECT_EQ(lines[1], "  a: numeric, 5 to 7 '$'");
    EXPECT_EQ(lines[2], "  b: numeric, 2 to 3 days since 1970-01-01");
    EXPECT_EQ(lines[3], "  c: numeric, 0.25 to 0.5 of a day");
}

TEST_F(Columns, TextsThatComeAgainAreCountedAndCoded) {
    // More different texts than are remembered, short and long ones, numbers and gaps among them; few and many columns.
    for (const int columns : {2, 1200}) {
        std::string text, names;
        std::vector<Number> codes;
        std::vector<std::string> values;
        std::int64_t missing = 0;
        for (int row = 0; row < 900; ++row) {
            std::string cell = "t" + std::to_string(row * row % (columns == 2 ? 300 : 12));
            if (row % 7 == 0) cell = "a text of more bytes than sixteen " + std::to_string(row % 3);
            if (row % 11 == 0) cell = row % 2 ? "NA" : "";
            if (row % 13 == 0) cell = std::to_string(row % 4);
            const bool gap = cell.empty() || cell == "NA";
            missing += gap;
            const auto known = std::find(values.begin(), values.end(), cell);
            if (!gap && known == values.end()) values.push_back(cell);
            codes.push_back(gap ? NAN
                                : static_cast<Number>(std::find(values.begin(), values.end(), cell) - values.begin()));
            for (int c = 1; c < columns; ++c) text += cell + ",";
            text += row % 2 ? "p\n" : "q\n";
        }
        const Table table = read(text, {.header = TableOptions::Header::absent});
        for (const std::size_t c : {std::size_t{0}, static_cast<std::size_t>(columns) - 2}) {
            EXPECT_EQ(table.schema.attributes[c].values, values);
            EXPECT_EQ(table.schema.attributes[c].missing, missing);
            for (std::size_t row = 0; row < codes.size(); ++row)
                if (std::isnan(codes[row]))
                    EXPECT_TRUE(std::isnan(table.rows.attributes.at(row, c))) << row;
                else
                    EXPECT_EQ(table.rows.attributes.at(row, c), codes[row]) << row;
        }
    }
    // What was remembered counts where numbers and texts are weighed against each other.
    std::string numbers = "v,y\n";
    for (int i = 0; i < 30; ++i) numbers += (i % 2 ? "low,p\n" : std::to_string(i) + ",q\n");
    expect_holds(message_of<BadFile>([&] { static_cast<void>(read(numbers)); }),
                 {"'low' is not a number", "--nominal 1"});
    EXPECT_EQ(read(numbers + "low,p\n").schema.attributes[0].kind, ColumnKind::nominal);
}

TEST_F(Columns, WideTablesAreReadInTheMemoryOfTheirNumbers) {
    // 2,000 columns of 60 different numbers each: their texts once took 15 MB.
    std::string text;
    for (int row = 0; row < 60; ++row) {
        for (int c = 0; c < 2000; ++c) text += std::to_string(row * 2000 + c) + ".25,";
        text += row % 2 ? "a\n" : "b\n";
    }
    const Table table = read(text, {.max_bytes = 60 * 2001 * 8 + 8});
    ASSERT_EQ(table.rows.attributes.columns(), 2000U);
    for (const std::size_t c : {std::size_t{0}, std::size_t{1999}})
        for (const std::size_t row : {std::size_t{0}, std::size_t{59}})
            EXPECT_EQ(table.rows.attributes.at(row, c), static_cast<double>(row * 2000 + c) + 0.25);
}

}  // namespace
}  // namespace espalier::bench::io
