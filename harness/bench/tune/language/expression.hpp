#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace espalier::bench::tune {

struct Value;
using List = std::vector<Value>;

/// The result of an expression, or the value of a name in it.
struct Value {
    std::variant<std::int64_t, double, bool, std::string, List> data = std::int64_t{0};

    Value() = default;
    Value(std::int64_t whole) : data(whole) {}
    Value(int whole) : data(std::int64_t{whole}) {}
    Value(double number) : data(number) {}
    Value(bool truth) : data(truth) {}
    Value(std::string text) : data(std::move(text)) {}
    Value(const char* text) : data(std::string(text)) {}
    Value(List list) : data(std::move(list)) {}

    [[nodiscard]] bool is_number() const { return data.index() <= 2; }
    [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&data); }
    [[nodiscard]] const List* list() const { return std::get_if<List>(&data); }
    /// Of a number; a truth is 0 or 1. Of anything else 0.
    [[nodiscard]] double number() const;
    /// As Python has it: not 0, not empty.
    [[nodiscard]] bool truth() const;

    bool operator==(const Value& other) const;
};

/// As a preprocessor's define spells it: 16, 0.5, 1 for a truth, a text without quotes.
std::string spelled(const Value& value);

/// What names in an expression mean. The last entry of a name counts.
using Names = std::vector<std::pair<std::string, Value>>;

/// An expression does not parse or has no value. `what()` says what is wrong and what to write instead.
class BadExpression : public std::runtime_error {
public:
    BadExpression(const std::string& what, std::string_view text, std::size_t at);
};

/// A parsed expression in Python's notation: numbers, texts, lists and comprehensions; + - * / // % **, comparisons,
/// also chained, `in`, and, or, not, `a if b else c`, subscripts; abs, min, max, sum, len, int, float, ceil, floor,
/// sqrt, log2, range and list. Whole numbers have 64 bits, and a result beyond them is an error.
class Expression {
public:
    /// Throws `BadExpression`.
    explicit Expression(std::string text);

    /// Its value, with what `names` mean. Throws `BadExpression`: unknown names, wrong types, division by zero.
    [[nodiscard]] Value evaluate(const Names& names) const;

    /// The names that it asks for, each once.
    [[nodiscard]] const std::vector<std::string>& asks_for() const { return asks_for_; }
    [[nodiscard]] const std::string& text() const { return *text_; }

    struct Node;

private:
    std::shared_ptr<const std::string> text_;
    std::shared_ptr<const Node> root_;
    std::vector<std::string> asks_for_;
};

}  // namespace espalier::bench::tune
