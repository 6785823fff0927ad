#include "harness/bench/tune/language/tokens.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace espalier::bench::tune {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Longer signs first.
constexpr std::array<std::string_view, 23> kSigns{"**", "//", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "<",
                                                  ">",  "(",  ")",  "[",  "]",  ",",  ".", "=", ":", "{", "}"};

/// What C has and Python spells otherwise.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kElsewhere{
    {{"&&", "and"}, {"||", "or"}, {"<<", "* 2 **"}, {">>", "// 2 **"}, {"?", "a if b else c"}, {"!", "not"}}};

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::vector<Token> all() {
        std::vector<Token> tokens;
        while (true) {
            while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
            if (at_ == text_.size()) break;
            tokens.push_back(next());
        }
        tokens.push_back({.at = at_});
        return tokens;
    }

private:
    [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

    Token next() {
        const char c = text_[at_];
        if (is_letter(c)) return name();
        if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
        if (c == '"' || c == '\'') return quoted(c);
        for (const std::string_view sign : kSigns) {
            if (!rest().starts_with(sign) || rest().starts_with("<<") || rest().starts_with(">>")) continue;
            Token token{Token::Kind::sign, std::string(sign), {}, at_};
            at_ += sign.size();
            return token;
        }
        for (const auto& [theirs, ours] : kElsewhere)
            if (rest().starts_with(theirs))
                throw BadExpression("'" + std::string(theirs) + "' is not Python: write '" + std::string(ours) + "'",
                                    text_, at_);
        throw BadExpression("'" + std::string(1, c) + "' means nothing in an expression: remove it", text_, at_);
    }

    Token name() {
        std::size_t end = at_;
        while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
        Token token{Token::Kind::name, std::string(text_.substr(at_, end - at_)), {}, at_};
        at_ = end;
        return token;
    }

    Token number() {
        const char *from = text_.data() + at_, *last = text_.data() + text_.size();
        Token token{Token::Kind::number, {}, {}, at_};
        std::int64_t whole = 0;
        double real = 0;
        const auto [end_of_whole, whole_error] = std::from_chars(from, last, whole);
        const auto [end_of_real, real_error] = std::from_chars(from, last, real);
        if (end_of_real > end_of_whole && real_error == std::errc{})
            token.value = real;
        else if (whole_error == std::errc{})
            token.value = whole;
        else
            throw BadExpression("a whole number of more than 64 bits: write a smaller one", text_, at_);
        at_ += static_cast<std::size_t>(std::max(end_of_whole, end_of_real) - from);
        if (at_ < text_.size() && is_letter(text_[at_]))
            throw BadExpression("a number followed by a letter: write an operator between them", text_, at_);
        return token;
    }

    Token quoted(char quote) {
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) throw BadExpression("a text without its closing quote", text_, at_);
        Token token{Token::Kind::text, {}, std::string(text_.substr(at_ + 1, end - at_ - 1)), at_};
        at_ = end + 1;
        return token;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Reader(text).all(); }

}  // namespace espalier::bench::tune
