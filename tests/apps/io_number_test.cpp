// How cells are read as numbers, amounts, dates and names.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "harness/apps/io/number.hpp"
#include "harness/apps/tables/amount.hpp"

namespace espalier::bench::io {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNone = -1234.5;  // stands for: no number

struct Literal {
    std::string text;
    double value;
};

std::string zeros(std::size_t count) { return std::string(count, '0'); }

TEST(ParseNumber, LiteralsAtTheLimitsOfTheType) {
    const std::vector<Literal> literals{
        {"0." + zeros(330) + "123", 0},
        {"1" + zeros(700) + "e-300", kInfinity},
        {"-1" + zeros(700) + "e-300", -kInfinity},
        {"1" + zeros(700) + "e-695", 1e5},
        {"0." + zeros(330) + "123e400", 1.23e69},
        {"0." + zeros(700) + "1e300", 0},
        {"0." + zeros(300) + "1e300", 0.1},
        {"1e400", kInfinity},
        {"-1e400", -kInfinity},
        {"1e-400", 0},
        {"1e309", kInfinity},
        {"1.7976931348623157e308", std::numeric_limits<double>::max()},
        {"1.7976931348623159e308", kInfinity},
        {"5e-324", std::numeric_limits<double>::denorm_min()},
        {"4.9406564584124654e-324", std::numeric_limits<double>::denorm_min()},
        {"2e-324", 0},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"1e99999999999999999999", kInfinity},
        {"1e-99999999999999999999", 0},
        {"0e99999999999999999999", 0},
        {zeros(400) + "1", 1},
        {"0." + zeros(5) + "e999", 0},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"9007199254740993", 9007199254740992},
        {"999999999999999", 999999999999999},
        {"0", 0},
        {"007", 7},
        {"1.", 1},
        {".5", 0.5},
        {"-.5", -0.5},
        {"+.5", 0.5},
        {"+3e1", 30},
        {"\xE2\x88\x92"
         "12.5",
         -12.5},
        {"inf", kInfinity},
        {"-Infinity", -kInfinity},
        {"", kNone},
        {"+", kNone},
        {"-", kNone},
        {".", kNone},
        {"e5", kNone},
        {"1e", kNone},
        {"+-1", kNone},
        {"--1", kNone},
        {"nan", kNone},
        {"0x1F", kNone},
        {"1_000", kNone},
        {"1,000", kNone},
        {"1 000", kNone},
        {"1.2.3", kNone},
        {"12%", kNone},
        {"1e5x", kNone},
    };
    for (const auto& [text, value] : literals) EXPECT_EQ(parse_number(text).value_or(kNone), value) << text;
    EXPECT_TRUE(std::signbit(*parse_number("-0")));
    EXPECT_TRUE(std::signbit(*parse_number("-1e-400")));
}

struct Grouped {
    char decimal, thousands;
    const char* text;
    double value;
};

TEST(ParseNumber, PlainNumbersAreTheNearestDoubles) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 200'000; ++i) {
        const int digits = 1 + static_cast<int>(random() % 15), decimals = static_cast<int>(random() % 16) % digits;
        std::string text;
        for (int d = 0; d < digits; ++d) text += static_cast<char>('0' + random() % 10);
        if (text[0] == '0' && digits - decimals > 1) text[0] = '1';
        if (decimals > 0) text.insert(text.size() - static_cast<std::size_t>(decimals), ".");
        if (random() % 2) text.insert(0, "-");
        const auto plain = parse_plain_number(text, '.');
        ASSERT_TRUE(plain) << text;
        ASSERT_EQ(std::bit_cast<std::uint64_t>(*plain),
                  std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)))
            << text;
    }
    EXPECT_EQ(parse_plain_number("12,5", ','), 12.5);
    EXPECT_TRUE(std::signbit(*parse_plain_number("-0", '.')));
    for (const char* other : {"",
                              "-",
                              ".",
                              "-.5",
                              ".5",
                              "5.",
                              "+5",
                              "007",
                              "-00.5",
                              "1e3",
                              "1.2.3",
                              "12,5",
                              " 1",
                              "1 ",
                              "--1",
                              "1-",
                              "0x1",
                              "inf",
                              "nan",
                              "1234567890123456",
                              "1.234567890123456",
                              "1/",
                              "1:"})
        EXPECT_FALSE(parse_plain_number(other, '.')) << other;
}

TEST(ParseNumber, GroupsOfDigits) {
    const std::vector<Grouped> cases{
        {'.', ',', "1,200,300", 1200300},
        {'.', ',', "24,320.53", 24320.53},
        {'.', ',', "-1,234", -1234},
        {'.', ',', "+1,234.5e2", 123450},
        {'.', ',', "999", 999},
        {'.', ',', "1234567", 1234567},
        {'.', ',', "12,34,567", 1234567},  // Indian
        {'.', ',', "1,23,45,678.9", 12345678.9},
        {'.', ',', "1,23", kNone},
        {'.', ',', "1,2,3", kNone},
        {'.', ',', "1234,567", kNone},
        {'.', ',', "123,45,678", kNone},
        {'.', ',', "0,123", kNone},
        {'.', ',', ",123", kNone},
        {'.', ',', "1,,234", kNone},
        {'.', ',', "1,234,", kNone},
        {'.', ',', "1.234,567", kNone},
        {'.', ',', "1.5,", kNone},
        {'.', ',', "1 234", kNone},
        {',', 0, "12,8", 12.8},
        {',', 0, "-0,5e1", -5},
        {',', 0, "1.5", kNone},
        {',', 0, "1,2,3", kNone},
        {',', 0, "1_000", kNone},
        {',', '.', "1.299,50", 1299.5},
        {',', '.', "1.234.567,8", 1234567.8},
        {',', '.', "1.234", 1234},
        {',', '.', "1.5", kNone},
        {',', '.', "1,234.5", kNone},
        {',', ' ', "1 234 567,8", 1234567.8},
        {',', ' ',
         "1\xC2\xA0"
         "234,8",
         1234.8},
        {'.', ' ',
         "1\xE2\x80\xAF"
         "234\xE2\x80\xAF"
         "567",
         1234567},
        {'.', ' ',
         "1\xE2\x80\x89"
         "234.25",
         1234.25},
        {'.', ' ', "12 34", kNone},
        {'.', '\'', "1'234'567.5", 1234567.5},
        {'.', '\'',
         "1\xE2\x80\x99"
         "234",
         1234},
        {'.', '_', "1_000", 1000},
        {'.', '_', "1_0", kNone},
    };
    for (const Grouped& c : cases)
        EXPECT_EQ(parse_number(c.text, {c.decimal, c.thousands}).value_or(kNone), c.value)
            << c.text << " with " << c.decimal << " and " << c.thousands;
}

TEST(NameOf, NumbersOfOneValueHaveOneName) {
    std::string a, b;
    const auto same = [&](const char* x, const char* y, const NumberFormat& format = {}) {
        return name_of(x, format, a) == name_of(y, format, b);
    };
    for (const char* one : {"1", "1.0", "1.", "1e0", "+1", "10e-1", "0.1e1", "1.000", "100000000000000000000e-20"})
        EXPECT_TRUE(same(one, "1")) << one;
    EXPECT_TRUE(same("10115", "10115.0"));
    EXPECT_TRUE(same("0", "-0")) << "and zeros of any sign";
    EXPECT_TRUE(same("0.0", "0e5"));
    EXPECT_TRUE(same(".5", "0.50"));
    EXPECT_TRUE(same("-2.50", "-25e-1"));
    EXPECT_TRUE(same("9007199254740993", "9007199254740993.0"));
    EXPECT_TRUE(same("1e50", "10e49"));
    EXPECT_TRUE(same("1e-50", "0.1e-49"));
    EXPECT_TRUE(same("1,5", "1,50", {',', 0}));
    EXPECT_TRUE(same("1,000", "1000.0", {'.', ','}));
    EXPECT_FALSE(same("9007199254740993", "9007199254740992")) << "one double, but two numbers";
    EXPECT_FALSE(same("123456789012345678901234567890", "123456789012345678901234567891"));
    EXPECT_FALSE(same("007", "7")) << "a text";
    EXPECT_FALSE(same("007", "07"));
    EXPECT_FALSE(same("1", "-1"));
    EXPECT_FALSE(same("a", "A"));
    EXPECT_FALSE(same("1,000", "1000.0"));
    for (const char* text : {"", "a", "007", "inf", "Infinity", "1.0.0", "0x10", "1.0a"})
        EXPECT_EQ(name_of(text, {}, a), text);
}

TEST(NameOf, IsTheShortestTextOfMostNumbers) {
    std::string a, b;
    for (const char* number : {"0.1", "1.0", "-3e5", "123456.789", "1e22", "0.000123", "999999999999999", "5e-324"}) {
        EXPECT_TRUE(is_spelled_by_its_value(number)) << number;
        EXPECT_EQ(name_of(number, {}, a), name_of(shortest(*parse_number(number)), {}, b)) << number;
    }
    for (const char* number : {"9007199254740993", "007", "0.12345678901234567"})
        EXPECT_FALSE(is_spelled_by_its_value(number)) << number;
}

struct AmountCase {
    const char* text;
    double value;
    const char* unit;
};

TEST(ParseAmount, UnitsStandBeforeOrBehind) {
    const std::vector<AmountCase> cases{
        {"12", 12, ""},
        {"$1200", 1200, "$"},
        {"$ 1200", 1200, "$"},
        {"-$5", -5, "$"},
        {"$-5", -5, "$"},
        {"12%", 12, "%"},
        {"12 %", 12, "%"},
        {"-0.5%", -0.5, "%"},
        {"(5)", -5, ""},
        {"($5)", -5, "$"},
        {"$(5.5)", -5.5, "$"},
        {"(5%)", -5, "%"},
        {"5-", -5, ""},
        {"12 kg", 12, "kg"},
        {"3.5km/h", 3.5, "km/h"},
        {"USD 12", 12, "USD"},
        {".5%", 0.5, "%"},
        {"+$5", 5, "$"},
        {"\xE2\x82\xAC"
         "7",
         7, "\xE2\x82\xAC"},
        {"7\xC2\xA0\xE2\x82\xAC", 7, "\xE2\x82\xAC"},
        {"\xE2\x88\x92$5", -5, "$"},
        {"1e3 m", 1000, "m"},
    };
    for (const AmountCase& c : cases) {
        const auto amount = parse_amount(c.text, {});
        ASSERT_TRUE(amount) << c.text;
        EXPECT_EQ(amount->value, c.value) << c.text;
        EXPECT_EQ(amount->unit.text, c.unit) << c.text;
        EXPECT_EQ(amount->unit.kind, Unit::Kind::quantity) << c.text;
    }
    for (const char* none : {"", "$", "free", "-(5)", "(-5)", "((5))", "1,200", "$1,200", "31/12/2024", "1.2.3", "--5",
                             "12-15", "A: 5", "flat number twelve, 12"})
        EXPECT_FALSE(parse_amount(none, {})) << none;
    EXPECT_EQ(parse_amount("$1,200.50", {'.', ','})->value, 1200.5);
    EXPECT_EQ(parse_amount("1.299,50 \xE2\x82\xAC", {',', '.'})->value, 1299.5);
    EXPECT_EQ(parse_amount("($1,200)", {'.', ','})->value, -1200);
}

struct Time {
    const char* text;
    double days;
    Unit::Kind kind;
};

TEST(ParseAmount, DatesAreDaysSince1970) {
    using K = Unit::Kind;
    const std::vector<Time> cases{
        {"1970-01-01", 0, K::date},
        {"1969-12-31", -1, K::date},
        {"2024-02-29", 19782, K::date},
        {"2000-03-01", 11017, K::date},
        {"2024-12", 20058, K::date},
        {"1970-01-02T12:00", 1.5, K::date},
        {"1970-01-02 06:00:00", 1.25, K::date},
        {"1970-01-01T00:00:00.5", 0.5 / 86400, K::date},
        {"1970-01-02T12:00:00Z", 1.5, K::instant},
        {"1970-01-02T12:00:00+06:00", 1.25, K::instant},
        {"1970-01-02T12:00:00-0600", 1.75, K::instant},
        {"1970-01-02 12:00:00 +06", 1.25, K::instant},
        {"12:00", 0.5, K::time},
        {"23:59:59", 86399.0 / 86400, K::time},
        {"00:00", 0, K::time},
        {"24:00", 1, K::time},
    };
    for (const Time& c : cases) {
        const auto amount = parse_amount(c.text, {});
        ASSERT_TRUE(amount) << c.text;
        EXPECT_EQ(amount->value, c.days) << c.text;
        EXPECT_EQ(amount->unit.kind, c.kind) << c.text;
    }
    for (const char* none : {"2023-02-29", "2024-13-01", "2024-00-10", "2024-1-1", "24:01", "12:60", "1:30",
                             "2024-12-31T", "2024-12-31T25:00", "2024-12-31T12:00+", "2024-12-31x", "12/31/2024"})
        EXPECT_FALSE(parse_amount(none, {})) << none;
}

TEST(Amount, WhatIsSurelyOneIsNoName) {
    for (const char* amount : {"$1200", "12%", "(5)", "5-", "$1,200", "2024-12-31", "2024-12-31 12:00", "23:59",
                               "31/12/2024", "12/31/2024", "31.12.24", "2024/12/31",
                               "1\xC2\xA0"
                               "200 \xE2\x82\xAC",
                               "USD 5"})
        EXPECT_TRUE(is_surely_amount(amount, {})) << amount;
    for (const char* name : {"red", "12 kg", "A12", "1st", "10-20", "<5", "1.2.3", "10.0.0.1", "007", "0x1F", "4x4",
                             "2019-20", "Room 5", ""})
        EXPECT_FALSE(is_surely_amount(name, {})) << name;
}

TEST(Amount, TheOptionsThatReadAColumnAreNamed) {
    EXPECT_EQ(option_for_numbers({"1,200,300", "24,320.53"}, {}, 3), "--thousands ','");
    EXPECT_EQ(option_for_numbers({"1,200"}, {}, 3), "--thousands ',' or --decimal ','");
    EXPECT_EQ(option_for_numbers({"1,200", "1,5"}, {}, 3), "--decimal ','");
    EXPECT_EQ(option_for_numbers({"1.299,50"}, {',', 0}, 3), "--thousands '.'");
    EXPECT_EQ(option_for_numbers({"1.299,50"}, {}, 3), "--decimal ',' --thousands '.'");
    EXPECT_EQ(option_for_numbers({"7.25"}, {',', 0}, 3), "--decimal '.'");
    EXPECT_EQ(option_for_numbers({"1'200"}, {}, 3), "--thousands \"'\"");
    EXPECT_EQ(option_for_numbers({"1 200"}, {}, 3), "--thousands space");
    EXPECT_EQ(option_for_numbers({"$1200", "$5"}, {}, 3), "--numeric 3");
    EXPECT_EQ(option_for_numbers({"$1,200", "$5.5"}, {}, 3), "--numeric 3 --thousands ','");
    EXPECT_EQ(option_for_numbers({"2024-12-31", "2025-01-01"}, {}, 3), "--numeric 3");
    EXPECT_EQ(option_for_numbers({"$5", "5%"}, {}, 3), "") << "one unit a column";
    EXPECT_EQ(option_for_numbers({"$5", "red"}, {}, 3), "");
}

}  // namespace
}  // namespace espalier::bench::io
