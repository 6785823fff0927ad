#pragma once

#include <optional>
#include <string>

#include "harness/bench/tune/language/expression.hpp"

namespace espalier::bench::tune {

/// What a function makes of its arguments; nothing, with `wrong` saying why, if it cannot.
std::optional<Value> call_function(const std::string& name, const List& arguments, std::string& wrong);

/// Two numbers by + - * / // % or **, as Python has them; nothing, with `wrong` saying why, if there is no result.
std::optional<Value> apply_operator(const std::string& sign, const Value& a, const Value& b, std::string& wrong);

}  // namespace espalier::bench::tune
