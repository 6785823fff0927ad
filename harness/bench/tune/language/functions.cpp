#include "harness/bench/tune/language/functions.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::bench::tune {
namespace {

constexpr std::int64_t kLongestRange = 1'000'000;

const std::int64_t* whole(const Value& value) { return std::get_if<std::int64_t>(&value.data); }

/// A real number as a whole one, where 64 bits hold it.
std::optional<Value> to_whole(double value, std::string& wrong) {
    if (std::abs(value) < 9e18) return static_cast<std::int64_t>(value);
    wrong = "the result does not fit into 64 bits";
    return std::nullopt;
}

std::optional<Value> range(const List& arguments, std::string& wrong) {
    std::int64_t from = 0, to = 0, step = 1;
    const std::size_t count = arguments.size();
    if (count < 1 || count > 3 || !std::ranges::all_of(arguments, [](const Value& v) { return whole(v) != nullptr; })) {
        wrong = "range takes one to three whole numbers";
        return std::nullopt;
    }
    if (count == 1) to = *whole(arguments[0]);
    if (count > 1) from = *whole(arguments[0]), to = *whole(arguments[1]);
    if (count > 2) step = *whole(arguments[2]);
    List values;
    __extension__ using Wide = __int128;  // a step past the end does not overflow
    for (Wide at = from; step > 0 ? at < to : step < 0 && at > to; at += step) {
        values.emplace_back(static_cast<std::int64_t>(at));
        if (static_cast<std::int64_t>(values.size()) > kLongestRange) break;
    }
    if (step != 0 && static_cast<std::int64_t>(values.size()) <= kLongestRange) return values;
    wrong = "range takes steps other than 0, and at most a million of them";
    return std::nullopt;
}

/// min and max, of their arguments or of one list.
std::optional<Value> extreme(bool most, const List& arguments, std::string& wrong) {
    const List& values = arguments.size() == 1 && arguments[0].list() ? *arguments[0].list() : arguments;
    const auto is_number = [](const Value& v) { return v.is_number(); };
    if (values.empty() || !std::ranges::all_of(values, is_number)) {
        wrong = "min and max take numbers, or a list of them";
        return std::nullopt;
    }
    const auto less = [](const Value& a, const Value& b) { return a.number() < b.number(); };
    return most ? *std::ranges::max_element(values, less) : *std::ranges::min_element(values, less);
}

std::optional<Value> sum(const List& values, std::string& wrong) {
    std::optional<Value> total = Value(0);
    for (const Value& value : values) {
        if (!value.is_number()) {
            wrong = "sum takes a list of numbers";
            return std::nullopt;
        }
        if (total) total = apply_operator("+", *total, value, wrong);
    }
    return total;
}

/// Functions of one number.
std::optional<Value> of_number(const std::string& name, const Value& value, std::string& wrong) {
    const double x = value.number();
    if (name == "float") return x;
    if (name == "abs")
        return whole(value) ? apply_operator("*", value, Value(x < 0 ? -1 : 1), wrong) : Value(std::abs(x));
    if (name == "int") return whole(value) ? value : to_whole(std::trunc(x), wrong);
    if (name == "ceil") return whole(value) ? value : to_whole(std::ceil(x), wrong);
    if (name == "floor") return whole(value) ? value : to_whole(std::floor(x), wrong);
    const double result = name == "sqrt" ? std::sqrt(x) : std::log2(x);
    if (std::isfinite(result)) return result;
    wrong = name + " of " + spelled(value) + " is no number";
    return std::nullopt;
}

std::optional<Value> power(const Value& a, const Value& b, std::string& wrong) {
    if (!whole(a) || !whole(b) || *whole(b) < 0) {
        const double result = std::pow(a.number(), b.number());
        if (std::isfinite(result)) return result;
        wrong = "the power is no finite number";
        return std::nullopt;
    }
    std::int64_t result = 1;
    const std::int64_t base = *whole(a);
    if (base >= -1 && base <= 1)
        return base == 0 ? std::int64_t{*whole(b) == 0} : base == 1 || *whole(b) % 2 == 0 ? 1 : -1;
    for (std::int64_t i = 0; i < *whole(b); ++i)
        if (__builtin_mul_overflow(result, base, &result)) {
            wrong = "the result does not fit into 64 bits";
            return std::nullopt;
        }
    return result;
}

std::int64_t floored(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

std::optional<Value> of_wholes(const std::string& sign, std::int64_t a, std::int64_t b, std::string& wrong) {
    std::int64_t result = 0;
    bool over = false;
    if (sign == "+") over = __builtin_add_overflow(a, b, &result);
    if (sign == "-") over = __builtin_sub_overflow(a, b, &result);
    if (sign == "*") over = __builtin_mul_overflow(a, b, &result);
    if (sign == "//" || sign == "%") {
        over = b == -1 && a == INT64_MIN;
        if (!over) result = sign == "//" ? floored(a, b) : a - floored(a, b) * b;
    }
    if (!over) return result;
    wrong = "the result does not fit into 64 bits";
    return std::nullopt;
}

}  // namespace

std::optional<Value> call_function(const std::string& name, const List& arguments, std::string& wrong) {
    if (name == "range") return range(arguments, wrong);
    if (name == "min" || name == "max") return extreme(name == "max", arguments, wrong);
    if (arguments.size() != 1) {
        wrong = name + " takes one argument, not " + std::to_string(arguments.size());
        return std::nullopt;
    }
    const List* list = arguments[0].list();
    if (name == "len" || name == "sum" || name == "list") {
        if (list && name == "sum") return sum(*list, wrong);
        if (list) return name == "len" ? Value(static_cast<std::int64_t>(list->size())) : arguments[0];
        wrong = name + " takes a list";
        return std::nullopt;
    }
    if (arguments[0].is_number()) return of_number(name, arguments[0], wrong);
    wrong = name + " takes a number";
    return std::nullopt;
}

std::optional<Value> apply_operator(const std::string& sign, const Value& a, const Value& b, std::string& wrong) {
    // Truths count as whole numbers, as in Python.
    const auto counted = [](const Value& v) {
        return std::holds_alternative<bool>(v.data) ? Value(static_cast<std::int64_t>(v.number())) : v;
    };
    const Value left = counted(a), right = counted(b);
    if ((sign == "/" || sign == "//" || sign == "%") && right.number() == 0) {
        wrong = "division by zero";
        return std::nullopt;
    }
    if (sign == "**") return power(left, right, wrong);
    if (sign != "/" && whole(left) && whole(right)) return of_wholes(sign, *whole(left), *whole(right), wrong);
    const double x = left.number(), y = right.number();
    if (sign == "+") return x + y;
    if (sign == "-") return x - y;
    if (sign == "*") return x * y;
    if (sign == "/") return x / y;
    return sign == "//" ? std::floor(x / y) : x - std::floor(x / y) * y;
}

}  // namespace espalier::bench::tune
