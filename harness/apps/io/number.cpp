#include "harness/apps/io/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier::bench::io {
namespace {

constexpr std::string_view kTypesetMinus = "\xE2\x88\x92";  // U+2212, the sign that typesetters use

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_at(std::string_view text) {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

/// The exponent that a number ends in, of any length.
long exponent_of(std::string_view text) {
    constexpr long kBeyond = 1'000'000'000'000;  // no number has as many digits
    const auto at = text.find_first_of("eE");
    if (at == std::string_view::npos) return 0;
    text.remove_prefix(at + 1);
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    long exponent = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), exponent).ec != std::errc{}) exponent = kBeyond;
    exponent = std::min(exponent, kBeyond);
    return negative ? -exponent : exponent;
}

/// A number without sign, written with a decimal point: 0.digits x 10^point, the first digit not 0.
struct Decimal {
    std::string digits;
    long point = 0;
};

Decimal decimal_of(std::string_view text) {
    Decimal decimal;
    bool behind_point = false;
    for (const char c : text.substr(0, text.find_first_of("eE"))) {
        if (c == '.') behind_point = true;
        if (!is_digit(c)) continue;
        if (c == '0' && decimal.digits.empty())
            decimal.point -= behind_point;
        else
            decimal.digits += c;
        decimal.point += !behind_point && !decimal.digits.empty();
    }
    decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
    decimal.point += exponent_of(text);
    return decimal;
}

std::optional<Number> parse_with_point(std::string_view text) {
    if (const auto plain = parse_plain_number(text, '.')) return plain;
    // from_chars knows no plus sign.
    const bool minus = text.starts_with(kTypesetMinus), plus = text.starts_with('+');
    if (minus || plus) text.remove_prefix(minus ? kTypesetMinus.size() : 1);
    if (text.empty() || ((minus || plus) && (text[0] == '-' || text[0] == '+'))) return std::nullopt;
    const char* const end = text.data() + text.size();
    Number number = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
    // It does not tell too large from too small.
    if (error == std::errc::result_out_of_range)
        number = std::copysign(decimal_of(text).point > 0 ? HUGE_VAL : 0.0, text[0] == '-' ? -1.0 : 1.0);
    if (std::isnan(number)) return std::nullopt;
    return minus ? -number : number;
}

/// The bytes of a separator of groups that `text` begins with, 0 if there is none.
std::size_t separator_at(std::string_view text, char thousands) {
    if (text.starts_with(thousands)) return 1;
    constexpr std::array<std::string_view, 3> kSpaces{"\xC2\xA0", "\xE2\x80\x89", "\xE2\x80\xAF"};
    constexpr std::array<std::string_view, 1> kApostrophes{"\xE2\x80\x99"};
    const std::span<const std::string_view> others = thousands == ' '    ? std::span(kSpaces.data(), 3)
                                                     : thousands == '\'' ? std::span(kApostrophes.data(), 1)
                                                                         : std::span<const std::string_view>{};
    for (const auto& other : others)
        if (text.starts_with(other)) return other.size();
    return 0;
}

/// Whether digits are grouped as people do; "0,123" is a fraction rather.
bool are_groups(std::span<const std::size_t> sizes, char first_digit) {
    if (sizes.size() < 2) return true;
    if (first_digit == '0' || sizes.back() != 3) return false;
    const auto inner = sizes.subspan(1, sizes.size() - 2);
    const auto all = [&](std::size_t size) {
        return std::all_of(inner.begin(), inner.end(), [=](auto s) { return s == size; });
    };
    return (sizes.front() <= 3 && all(3)) || (sizes.front() <= 2 && all(2));
}

/// The number with a decimal point and without groups. Nothing if it is not written in this format.
std::optional<std::string> with_point(std::string_view text, const NumberFormat& format) {
    std::string plain;
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) plain = text[0];
    if (text.starts_with(kTypesetMinus)) plain = '-';
    text.remove_prefix(plain.empty() ? 0 : text.starts_with(kTypesetMinus) ? kTypesetMinus.size() : 1);
    const char first = text.empty() ? '0' : text[0];
    std::vector<std::size_t> sizes;
    while (true) {
        sizes.push_back(digits_at(text));
        plain.append(text.substr(0, sizes.back()));
        text.remove_prefix(sizes.back());
        const std::size_t separator = format.thousands == 0 ? 0 : separator_at(text, format.thousands);
        if (separator == 0 || sizes.back() == 0) break;
        text.remove_prefix(separator);
    }
    if (!are_groups(sizes, first)) return std::nullopt;
    if (text.starts_with(format.decimal)) {
        plain += '.';
        text.remove_prefix(1);
    }
    if (text.find_first_of(".,") != std::string_view::npos) return std::nullopt;
    return plain.append(text);
}

bool is_written_with_point(std::string_view text, const NumberFormat& format) {
    if (format.decimal != '.') return text.find_first_of(".,'_ \xC2\xE2") == std::string_view::npos;
    return format.thousands == 0;
}

/// The value of `number`, which is none in a spelling of its own, spelled.
void spell(std::string_view number, std::string& text) {
    const Decimal decimal = decimal_of(number);
    text.clear();
    if (decimal.digits.empty()) {
        text = "0";
        return;
    }
    if (number[0] == '-') text = "-";
    constexpr long kLongest = 40;
    const auto size = static_cast<long>(decimal.digits.size());
    if (decimal.point > kLongest || decimal.point < -kLongest)
        text.append("0.").append(decimal.digits).append("e").append(std::to_string(decimal.point));
    else if (decimal.point >= size)
        text.append(decimal.digits).append(static_cast<std::size_t>(decimal.point - size), '0');
    else if (decimal.point > 0)
        text.append(decimal.digits).insert(text.size() - static_cast<std::size_t>(size - decimal.point), 1, '.');
    else
        text.append("0.").append(static_cast<std::size_t>(-decimal.point), '0').append(decimal.digits);
}

/// "12", "-5", and not "007", "1.0" or "1e0": most numbers that are names.
bool is_plain_integer(std::string_view text) {
    if (text == "0") return true;
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text[0] != '0' && digits_at(text) == text.size() && text.size() <= 40;
}

/// "007", "-00.5"
bool begins_with_zeros(std::string_view text) {
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
    return text.size() > 1 && text[0] == '0' && is_digit(text[1]);
}

}  // namespace

std::optional<Number> parse_number(std::string_view text, const NumberFormat& format) {
    if (is_written_with_point(text, format)) return parse_with_point(text);
    const auto plain = with_point(text, format);
    return plain ? parse_with_point(*plain) : std::nullopt;
}

std::string_view name_of(std::string_view cell, const NumberFormat& format, std::string& scratch) {
    if (cell.empty() || is_plain_integer(cell)) return cell;
    if (!is_digit(cell.back()) && cell.back() != format.decimal) return cell;
    if (!parse_number(cell, format)) return cell;
    const auto plain = with_point(cell, format);
    if (!plain || plain->find_first_of("0123456789") == std::string::npos || begins_with_zeros(*plain)) return cell;
    spell(*plain, scratch);
    return scratch;
}

bool is_spelled_by_its_value(std::string_view number) {
    constexpr std::size_t kDigits = 15;  // so many any double keeps
    if (number.size() <= kDigits) return !begins_with_zeros(number);
    return !begins_with_zeros(number) && decimal_of(number).digits.size() <= kDigits;
}

std::string shortest(Number number) {
    char buffer[32];
    const auto [end, error] = std::to_chars(std::begin(buffer), std::end(buffer), number);
    return {buffer, end};
}

}  // namespace espalier::bench::io
