#include "harness/bench/tune/language/expression.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::tune {
namespace {

const Names kNames{{"x", 7}, {"y", -3}, {"name", "half"}, {"sizes", List{4, 8, 16}}, {"half_of_one", 0.5}};

struct Case {
    const char* text;
    Value value;
};

class Evaluated : public testing::TestWithParam<Case> {};

TEST_P(Evaluated, AsPythonDoes) {
    const Value value = Expression(GetParam().text).evaluate(kNames);
    EXPECT_EQ(value, GetParam().value) << GetParam().text << " is " << spelled(value);
    EXPECT_EQ(value.data.index(), GetParam().value.data.index()) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Expression, Evaluated,
    testing::Values(Case{"1 + 2 * 3", 7}, Case{"(1 + 2) * 3", 9}, Case{"7 // 2", 3}, Case{"-7 // 2", -4},
                    Case{"-7 % 3", 2}, Case{"7 % -3", -2}, Case{"7 / 2", 3.5}, Case{"2 ** 3 ** 2", 512},
                    Case{"-2 ** 2", -4}, Case{"2 ** -1", 0.5}, Case{"x - y", 10}, Case{"1 < 2 <= 2", true},
                    Case{"3 > 2 > 2", false}, Case{"not x == 7 or y < 0", true}, Case{"x and y", -3}, Case{"0 or 5", 5},
                    Case{"x in [5, 6, 7]", true}, Case{"x not in sizes", true}, Case{"name == 'half'", true},
                    Case{"min(x, y, 0)", -3}, Case{"max(sizes)", 16}, Case{"len(sizes) + sum(sizes)", 31},
                    Case{"sizes[0] + sizes[-1]", 20}, Case{"ceil(x / 2)", 4}, Case{"int(half_of_one + 1)", 1},
                    Case{"abs(y)", 3}, Case{"1 if x > y else 2", 1}, Case{"log2(8)", 3.0},
                    Case{"list(range(1, 8, 3))", List{1, 4, 7}},
                    Case{"[2 ** i for i in range(5) if i != 2]", List{1, 2, 8, 16}}, Case{"[1] + [2]", List{1, 2}},
                    Case{"True + 1", 2}, Case{"1e3", 1000.0}, Case{"y == 0 and 1 // 0 or 4", 4}));

struct BadCase {
    const char* text;
    const char* says;
};

class Refused : public testing::TestWithParam<BadCase> {};

TEST_P(Refused, WithPlaceAndFix) {
    const std::string message =
        message_of<BadExpression>([] { static_cast<void>(Expression(GetParam().text).evaluate(kNames)); });
    expect_holds(message, {GetParam().says});
}

INSTANTIATE_TEST_SUITE_P(
    Expression, Refused,
    testing::Values(BadCase{"x && y", "character 3: '&&' is not Python: write 'and'"}, BadCase{"x || y", "write 'or'"},
                    BadCase{"!x", "write 'not'"}, BadCase{"x = 7", "write '=='"},
                    BadCase{"x +", "is missing at the end"}, BadCase{"(x", "')' is missing at the end"},
                    BadCase{"x y", "'y' is left over"}, BadCase{"", "write an expression"},
                    BadCase{"z", "'z' is no name here: there are x, y"}, BadCase{"1 // 0", "division by zero"},
                    BadCase{"1 % (x - 7)", "division by zero"}, BadCase{"9223372036854775807 + 1", "64 bits"},
                    BadCase{"2 ** 64", "64 bits"}, BadCase{"99999999999999999999", "64 bits"},
                    BadCase{"sizes[3]", "place 3 of a list of 3"}, BadCase{"name + 1", "needs two numbers"},
                    BadCase{"eval('1')", "there is no function 'eval'"},
                    BadCase{"math.ceil(x)", "write the function's bare name"},
                    BadCase{"range(1, 9, 0)", "steps other than 0"}, BadCase{"range(10 ** 9)", "at most a million"},
                    BadCase{"sqrt(-1)", "is no number"}, BadCase{"'open", "closing quote"},
                    BadCase{"12abc", "write an operator"}, BadCase{"x # y", "means nothing"}));

TEST(Expression, DeepNestingIsRefused) {
    for (const std::string& text : {std::string(50000, '('), std::string(50000, '-') + "1", [] {
                                        std::string sum = "1";
                                        for (int i = 0; i < 20000; ++i) sum += "+1";
                                        return sum;
                                    }()})
        EXPECT_THROW(Expression{text}, BadExpression) << text.substr(0, 10);
}

TEST(Expression, AsksForItsNamesOnce) {
    EXPECT_EQ(Expression("x * x + max([i * y for i in sizes])").asks_for(),
              (std::vector<std::string>{"x", "y", "sizes"}));
}

}  // namespace
}  // namespace espalier::bench::tune
