#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/tune/language/expression.hpp"

namespace espalier::bench::tune {

struct Token {
    enum class Kind { number, text, name, sign, end };
    Kind kind = Kind::end;
    std::string text{};  ///< a name or a sign
    Value value{};       ///< of a number or a text
    std::size_t at = 0;
};

/// The tokens of an expression; the last one is `end`. Throws `BadExpression`, which offers Python's spelling of what
/// other languages write.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace espalier::bench::tune
