#include "harness/bench/tune/language/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "harness/bench/tune/language/functions.hpp"

namespace espalier::bench::tune {
namespace {

using Node = Expression::Node;
using Kind = Node::Kind;

class Evaluation {
public:
    Evaluation(std::string_view text, const Names& names) : text_(text), names_(names) {}

    Value of(const Node& node) {
        switch (node.kind) {
            case Kind::value: return node.value;
            case Kind::name: return meaning(node);
            case Kind::list: return List(all(node));
            case Kind::comprehension: return comprehension(node);
            case Kind::call: return called(node);
            case Kind::subscript: return subscript(node);
            case Kind::unary: return unary(node);
            case Kind::binary: return binary(node);
            case Kind::comparison: return compared(node);
            case Kind::both: return chained(node, false);
            case Kind::either: return chained(node, true);
            case Kind::conditional: return of(node.parts[1]).truth() ? of(node.parts[0]) : of(node.parts[2]);
        }
        return {};
    }

private:
    [[noreturn]] void fail(const Node& node, const std::string& what) const {
        throw BadExpression(what, text_, node.at);
    }

    Value meaning(const Node& node) {
        for (const Names* names : {static_cast<const Names*>(&bound_), &names_})
            for (auto name = names->rbegin(); name != names->rend(); ++name)
                if (name->first == node.text) return name->second;
        std::string known;
        for (const auto& [name, value] : names_) known += (known.empty() ? "" : ", ") + name;
        fail(node, "'" + node.text + "' is no name here" + (known.empty() ? "" : ": there are " + known));
    }

    List all(const Node& node) {
        List values;
        for (const Node& part : node.parts) values.push_back(of(part));
        return values;
    }

    Value comprehension(const Node& node) {
        const Value from = of(node.parts[1]);
        if (!from.list()) fail(node.parts[1], "'for' needs a list: write [..] or range(..)");
        List values;
        for (const Value& one : *from.list()) {
            bound_.emplace_back(node.text, one);
            if (node.parts.size() == 2 || of(node.parts[2]).truth()) values.push_back(of(node.parts[0]));
            bound_.pop_back();
        }
        return values;
    }

    Value called(const Node& node) {
        std::string wrong;
        const std::optional<Value> value = call_function(node.text, all(node), wrong);
        if (!value) fail(node, wrong);
        return *value;
    }

    Value subscript(const Node& node) {
        const Value list = of(node.parts[0]), place = of(node.parts[1]);
        const auto* at = std::get_if<std::int64_t>(&place.data);
        if (!list.list() || !at) fail(node, "only a list has places, and they are whole numbers");
        const auto size = static_cast<std::int64_t>(list.list()->size());
        const std::int64_t from_start = *at < 0 ? *at + size : *at;
        if (from_start < 0 || from_start >= size)
            fail(node, "place " + std::to_string(*at) + " of a list of " + std::to_string(size));
        return (*list.list())[static_cast<std::size_t>(from_start)];
    }

    Value unary(const Node& node) {
        const Value value = of(node.parts[0]);
        if (node.text == "not") return !value.truth();
        if (!value.is_number()) fail(node, "a sign before what is no number");
        return node.text == "+" ? value : arithmetic(node, "-", std::int64_t{0}, value);
    }

    Value binary(const Node& node) {
        const Value a = of(node.parts[0]), b = of(node.parts[1]);
        if (node.text == "+" && a.list() && b.list()) {
            List both = *a.list();
            both.insert(both.end(), b.list()->begin(), b.list()->end());
            return both;
        }
        if (!a.is_number() || !b.is_number()) fail(node, "'" + node.text + "' needs two numbers");
        return arithmetic(node, node.text, a, b);
    }

    Value arithmetic(const Node& node, const std::string& sign, const Value& a, const Value& b) const {
        std::string wrong;
        const std::optional<Value> value = apply_operator(sign, a, b, wrong);
        if (!value) fail(node, wrong);
        return *value;
    }

    bool holds(const Node& node, const std::string& sign, const Value& a, const Value& b) const {
        if (sign == "==") return a == b;
        if (sign == "!=") return !(a == b);
        if (sign == "in" || sign == "not in") {
            if (!b.list()) fail(node, "'in' needs a list on its right");
            return (std::ranges::find(*b.list(), a) != b.list()->end()) == (sign == "in");
        }
        if (a.text() && b.text()) return ordered(sign, a.text()->compare(*b.text()));
        if (!a.is_number() || !b.is_number()) fail(node, "'" + sign + "' needs two numbers or two texts");
        const double x = a.number(), y = b.number();
        return ordered(sign, x < y ? -1 : x > y ? 1 : 0);
    }
    static bool ordered(const std::string& sign, int order) {
        if (sign == "<") return order < 0;
        if (sign == "<=") return order <= 0;
        if (sign == ">") return order > 0;
        return order >= 0;
    }

    Value compared(const Node& node) {
        Value left = of(node.parts[0]);
        for (std::size_t i = 0; i < node.operators.size(); ++i) {
            Value right = of(node.parts[i + 1]);
            if (!holds(node, node.operators[i], left, right)) return false;
            left = std::move(right);
        }
        return true;
    }

    /// `and` and `or` are the value that decides, as Python has it; no part behind it is looked at.
    Value chained(const Node& node, bool until) {
        Value value;
        for (const Node& part : node.parts) {
            value = of(part);
            if (value.truth() == until) break;
        }
        return value;
    }

    std::string_view text_;
    const Names& names_;
    Names bound_;
};

}  // namespace

Value evaluate_node(const Node& node, std::string_view text, const Names& names) {
    return Evaluation(text, names).of(node);
}

}  // namespace espalier::bench::tune
