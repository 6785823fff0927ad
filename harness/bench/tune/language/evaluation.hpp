#pragma once

#include <string_view>

#include "harness/bench/tune/language/syntax.hpp"

namespace espalier::bench::tune {

/// The value of a part of the expression `text`, with what `names` mean. Throws `BadExpression`.
Value evaluate_node(const Expression::Node& node, std::string_view text, const Names& names);

}  // namespace espalier::bench::tune
