#include "harness/apps/io/cell.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace espalier::bench::io {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool same_letters(std::string_view text, std::string_view word) {
    return text.size() == word.size() &&
           std::equal(text.begin(), text.end(), word.begin(), [](char a, char b) { return lower(a) == b; });
}

/// Most cells are numbers: they are told by their first character.
bool is_usual(std::string_view cell) {
    if (cell.empty()) return true;
    constexpr std::string_view kStarts = "?-nN#<";
    if (kStarts.find(cell.front()) == std::string_view::npos) return false;
    constexpr std::array<std::string_view, 10> kWords{"?",    "-",    "na",   "n/a", "#n/a",
                                                      "<na>", "null", "none", "nan", "-nan"};
    return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return same_letters(cell, word); });
}

std::optional<Number> parse_with_point(std::string_view text) {
    // from_chars knows no plus sign.
    if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
    const char* const end = text.data() + text.size();
    Number number = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (stop != end || error == std::errc::invalid_argument || text.empty()) return std::nullopt;
    if (error == std::errc::result_out_of_range) {
        // It does not tell too large from too small.
        const auto exponent = text.find_first_of("eE");
        const bool small = exponent != std::string_view::npos && text[exponent + 1] == '-';
        return std::copysign(small ? 0.0 : HUGE_VAL, text[0] == '-' ? -1.0 : 1.0);
    }
    if (std::isnan(number)) return std::nullopt;
    return number;
}

}  // namespace

std::optional<Number> parse_number(std::string_view text, char decimal) {
    if (decimal == '.') return parse_with_point(text);
    if (text.find('.') != std::string_view::npos) return std::nullopt;
    const auto comma = text.find(decimal);
    if (comma == std::string_view::npos) return parse_with_point(text);
    std::string with_point(text);
    with_point[comma] = '.';
    return parse_with_point(with_point);
}

bool MissingWords::hold(std::string_view cell) const {
    if (words_.empty()) return is_usual(cell);
    return cell.empty() || std::find(words_.begin(), words_.end(), cell) != words_.end();
}

bool MissingWords::hold_class(std::string_view cell) const {
    return hold(cell) && !(words_.empty() && (cell == "-" || same_letters(cell, "none")));
}

}  // namespace espalier::bench::io
