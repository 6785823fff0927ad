#include "harness/bench/tune/language/syntax.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "harness/bench/tune/language/tokens.hpp"

namespace espalier::bench::tune {
namespace {

using Node = Expression::Node;
using Kind = Node::Kind;

constexpr std::array<std::string_view, 12> kFunctions{"abs",   "min",  "max",   "sum",  "len",   "int",
                                                      "float", "ceil", "floor", "sqrt", "range", "list"};
constexpr std::array<std::string_view, 6> kComparisons{"<", "<=", ">", ">=", "==", "!="};
constexpr int kDeepest = 100;   // of parts in parts: each takes some of the stack
constexpr int kLongest = 1000;  // operators in a row: evaluating them does

/// Recursive descent: one function for each level of binding, loosest first.
class Parser {
public:
    explicit Parser(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}

    Node whole() {
        if (tokens_.size() == 1) throw BadExpression("nothing is there: write an expression", text_, 0);
        Node node = conditional();
        if (now().kind != Token::Kind::end) fail("'" + spelling(now()) + "' is left over: write an operator before it");
        return node;
    }

private:
    [[nodiscard]] const Token& now() const { return tokens_[next_]; }
    [[nodiscard]] bool at(std::string_view text) const {
        return (now().kind == Token::Kind::sign || now().kind == Token::Kind::name) && now().text == text;
    }
    bool take(std::string_view text) {
        if (!at(text)) return false;
        ++next_;
        return true;
    }
    void expect(std::string_view text) {
        if (!take(text)) fail("'" + std::string(text) + "' is missing" + found());
    }
    [[nodiscard]] std::string found() const {
        return now().kind == Token::Kind::end ? " at the end" : " before '" + spelling(now()) + "'";
    }
    static std::string spelling(const Token& token) { return token.text.empty() ? spelled(token.value) : token.text; }
    [[noreturn]] void fail(const std::string& what) const { throw BadExpression(what, text_, now().at); }

    Node conditional() {
        if (++depth_ > kDeepest) fail("more than 100 levels of brackets: write less");
        Node node = either();
        if (take("if")) {
            Node outer{.kind = Kind::conditional, .at = node.at};
            outer.parts.push_back(std::move(node));
            outer.parts.push_back(either());
            expect("else");
            outer.parts.push_back(conditional());
            node = std::move(outer);
        }
        --depth_;
        return node;
    }

    /// `a sign b sign c`, of parts of the next level.
    template <class Next>
    Node chain(Kind kind, std::string_view sign, Next next) {
        Node first = next();
        if (!at(sign)) return first;
        Node node{.kind = kind, .at = first.at};
        node.parts.push_back(std::move(first));
        while (take(sign)) node.parts.push_back(next());
        return node;
    }
    Node either() {
        return chain(Kind::either, "or", [&] { return both(); });
    }
    Node both() {
        return chain(Kind::both, "and", [&] { return negation(); });
    }

    Node negation() {
        const std::size_t at = now().at;
        if (!take("not")) return comparison();
        if (++depth_ > kDeepest) fail("more than 100 levels: write less");
        Node node{.kind = Kind::unary, .at = at, .text = "not"};
        node.parts.push_back(negation());
        --depth_;
        return node;
    }

    /// The comparison that comes next; empty if none does.
    std::string comparing() {
        if (take("in")) return "in";
        if (at("not") && tokens_[next_ + 1].text == "in") {
            next_ += 2;
            return "not in";
        }
        for (const std::string_view sign : kComparisons)
            if (take(sign)) return std::string(sign);
        if (at("=")) fail("'=' sets nothing here: write '==' to compare");
        return {};
    }

    Node comparison() {
        Node first = sum();
        std::string sign = comparing();
        if (sign.empty()) return first;
        Node node{.kind = Kind::comparison, .at = first.at};
        node.parts.push_back(std::move(first));
        for (; !sign.empty(); sign = comparing()) {
            node.operators.push_back(sign);
            node.parts.push_back(sum());
        }
        return node;
    }

    /// Operators of one level, from the left.
    template <class Next>
    Node from_left(std::initializer_list<std::string_view> signs, Next next) {
        Node node = next();
        for (int signs_so_far = 0;; ++signs_so_far) {
            if (signs_so_far > kLongest) fail("more than 1,000 operators in a row: write less");
            const auto sign = std::ranges::find_if(signs, [&](std::string_view one) { return at(one); });
            if (sign == signs.end()) return node;
            Node outer{.kind = Kind::binary, .at = now().at, .text = std::string(*sign)};
            ++next_;
            outer.parts.push_back(std::move(node));
            outer.parts.push_back(next());
            node = std::move(outer);
        }
    }
    Node sum() {
        return from_left({"+", "-"}, [&] { return product(); });
    }
    Node product() {
        return from_left({"*", "//", "/", "%"}, [&] { return signed_part(); });
    }

    Node signed_part() {
        for (const char* sign : {"-", "+"}) {
            const std::size_t at = now().at;
            if (!take(sign)) continue;
            if (++depth_ > kDeepest) fail("more than 100 signs: write less");
            Node node{.kind = Kind::unary, .at = at, .text = sign};
            node.parts.push_back(signed_part());
            --depth_;
            return node;
        }
        Node base = subscripted();
        if (!at("**")) return base;
        Node node{.kind = Kind::binary, .at = now().at, .text = "**"};
        ++next_;
        node.parts.push_back(std::move(base));
        if (++depth_ > kDeepest) fail("more than 100 powers: write less");
        node.parts.push_back(signed_part());  // from the right, and tighter than a sign on its left
        --depth_;
        return node;
    }

    Node subscripted() {
        Node node = smallest();
        while (at("[")) {
            Node outer{.kind = Kind::subscript, .at = now().at};
            ++next_;
            outer.parts.push_back(std::move(node));
            outer.parts.push_back(conditional());
            expect("]");
            node = std::move(outer);
        }
        if (at(".")) fail("'.' is not known here: write the function's bare name, such as ceil(x)");
        return node;
    }

    Node smallest() {
        const Token token = now();
        if (token.kind == Token::Kind::number || token.kind == Token::Kind::text) {
            ++next_;
            return {.kind = Kind::value, .at = token.at, .value = token.value};
        }
        if (take("(")) {
            Node node = conditional();
            expect(")");
            return node;
        }
        if (take("[")) return list(token.at);
        if (token.kind != Token::Kind::name || at("and") || at("or") || at("if") || at("else") || at("in") || at("for"))
            fail("a number, a name or a bracket is missing" + found());
        ++next_;
        if (token.text == "True" || token.text == "False")
            return {.kind = Kind::value, .at = token.at, .value = token.text == "True"};
        return at("(") ? call(token) : Node{.kind = Kind::name, .at = token.at, .text = token.text};
    }

    Node list(std::size_t at) {
        Node node{.kind = Kind::list, .at = at};
        if (take("]")) return node;
        node.parts.push_back(conditional());
        if (take("for")) {
            node.kind = Kind::comprehension;
            if (now().kind != Token::Kind::name) fail("the name of what runs is missing" + found());
            node.text = tokens_[next_++].text;
            expect("in");
            node.parts.push_back(either());
            if (take("if")) node.parts.push_back(either());
        }
        while (node.kind == Kind::list && take(",") && !this->at("]")) node.parts.push_back(conditional());
        expect("]");
        return node;
    }

    Node call(const Token& name) {
        if (std::ranges::find(kFunctions, name.text) == kFunctions.end() && name.text != "log2")
            throw BadExpression("there is no function '" + name.text +
                                    "': there are abs, min, max, sum, len, int, float, ceil, floor, sqrt, log2, range "
                                    "and list",
                                text_, name.at);
        Node node{.kind = Kind::call, .at = name.at, .text = name.text};
        expect("(");
        if (take(")")) return node;
        do node.parts.push_back(conditional());
        while (take(","));
        expect(")");
        return node;
    }

    std::string_view text_;
    std::vector<Token> tokens_;
    std::size_t next_ = 0;
    int depth_ = 0;
};

}  // namespace

Node parse_expression(std::string_view text) { return Parser(text).whole(); }

}  // namespace espalier::bench::tune
