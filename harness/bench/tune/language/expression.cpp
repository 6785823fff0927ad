#include "harness/bench/tune/language/expression.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/bench/tune/language/evaluation.hpp"
#include "harness/bench/tune/language/syntax.hpp"

namespace espalier::bench::tune {
namespace {

/// Names that a part asks for, but for those that a comprehension around it runs through.
void collect_names(const Expression::Node& node, std::vector<std::string>& bound, std::vector<std::string>& names) {
    using Kind = Expression::Node::Kind;
    const auto knows = [](const std::vector<std::string>& some, const std::string& name) {
        return std::ranges::find(some, name) != some.end();
    };
    if (node.kind == Kind::name && !knows(bound, node.text) && !knows(names, node.text)) names.push_back(node.text);
    const bool binds = node.kind == Kind::comprehension;
    if (binds) bound.push_back(node.text);
    for (const Expression::Node& part : node.parts) collect_names(part, bound, names);
    if (binds) bound.pop_back();
}

}  // namespace

double Value::number() const {
    if (const auto* whole = std::get_if<std::int64_t>(&data)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&data)) return *real;
    if (const auto* truth = std::get_if<bool>(&data)) return *truth ? 1 : 0;
    return 0;
}

bool Value::truth() const {
    if (text()) return !text()->empty();
    if (list()) return !list()->empty();
    return number() != 0;
}

bool Value::operator==(const Value& other) const {
    if (is_number() && other.is_number()) {
        const auto *a = std::get_if<std::int64_t>(&data), *b = std::get_if<std::int64_t>(&other.data);
        return a && b ? *a == *b : number() == other.number();
    }
    if (text() && other.text()) return *text() == *other.text();
    return list() && other.list() && *list() == *other.list();
}

std::string spelled(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return fmt::format("{}", *whole);
    if (const auto* real = std::get_if<double>(&value.data)) return fmt::format("{}", *real);
    if (const auto* truth = std::get_if<bool>(&value.data)) return *truth ? "1" : "0";
    if (value.text()) return *value.text();
    std::string all;
    for (const Value& one : *value.list()) all += (all.empty() ? "" : ", ") + spelled(one);
    return "[" + all + "]";
}

BadExpression::BadExpression(const std::string& what, std::string_view text, std::size_t at)
    : std::runtime_error(fmt::format("'{}', character {}: {}", text, at + 1, what)) {}

Expression::Expression(std::string text)
    : text_(std::make_shared<const std::string>(std::move(text))),
      root_(std::make_shared<const Node>(parse_expression(*text_))) {
    std::vector<std::string> bound;
    collect_names(*root_, bound, asks_for_);
}

Value Expression::evaluate(const Names& names) const { return evaluate_node(*root_, *text_, names); }

}  // namespace espalier::bench::tune
