#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/tune/language/expression.hpp"

namespace espalier::bench::tune {

/// A part of an expression: what it does, and with which parts.
struct Expression::Node {
    enum class Kind {
        value,          ///< `value`
        name,           ///< what `text` means
        list,           ///< of `parts`
        comprehension,  ///< parts 0 for each `text` in 1, where 2 holds if it is there
        call,           ///< the function `text` of `parts`
        subscript,      ///< parts 0 at 1
        unary,          ///< `text`: -, +, not
        binary,         ///< `text`: an arithmetic operator
        comparison,     ///< parts one after the other, compared by `operators`
        both,           ///< and
        either,         ///< or
        conditional     ///< parts 0 if 1 else 2
    };
    Kind kind = Kind::value;
    std::size_t at = 0;  ///< where in the expression's text
    Value value{};
    std::string text{};
    std::vector<Node> parts{};
    std::vector<std::string> operators{};
};

/// Parses `text`. Throws `BadExpression`.
Expression::Node parse_expression(std::string_view text);

}  // namespace espalier::bench::tune
