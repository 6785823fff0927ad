#include "harness/apps/tables/amount.hpp"

#include <algorithm>
#include <array>

#include "harness/apps/io/cell.hpp"
#include "harness/apps/tables/iso_time.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::string_view kMinus = "\xE2\x88\x92", kNoBreak = "\xC2\xA0", kNarrow = "\xE2\x80\xAF";

/// Without blanks, no-break ones among them, at its ends.
std::string_view trimmed(std::string_view text) {
    for (bool again = true; again;) {
        again = false;
        for (const std::string_view blank : {std::string_view(" "), std::string_view("\t"), kNoBreak, kNarrow}) {
            const bool front = text.starts_with(blank);
            if (front) text.remove_prefix(blank.size());
            const bool back = text.ends_with(blank);
            if (back) text.remove_suffix(blank.size());
            again |= front || back;
        }
    }
    return text;
}

/// Takes a sign off the front; 0 if there is none.
int take_sign(std::string_view& text) {
    const bool typeset = text.starts_with(kMinus);
    if (!typeset && !text.starts_with('-') && !text.starts_with('+')) return 0;
    const int sign = text.starts_with('+') ? 1 : -1;
    text.remove_prefix(typeset ? kMinus.size() : 1);
    return sign;
}

/// "$ 12", "12 kg", "12%", "-$5", "$-5", "5-", without parentheses.
std::optional<Amount> parse_quantity(std::string_view text, const NumberFormat& format) {
    constexpr std::size_t kLongestUnit = 16;  // what is longer is a sentence
    int sign = take_sign(text);
    const auto first = text.find_first_of("0123456789");
    if (first == std::string_view::npos) return std::nullopt;
    const auto last = text.find_last_of("0123456789");
    const bool led_by_decimal = first > 0 && text[first - 1] == format.decimal;
    std::string_view before = trimmed(text.substr(0, first - (led_by_decimal ? 1 : 0)));
    std::string_view behind = trimmed(text.substr(last + 1));
    if (behind == "-" && sign == 0) {
        sign = -1;
        behind = {};
    }
    for (const std::string_view minus : {std::string_view("-"), kMinus})
        if (before.ends_with(minus) && sign == 0) {
            sign = -1;
            before = trimmed(before.substr(0, before.size() - minus.size()));
        }
    const std::size_t begin = first - (led_by_decimal ? 1 : 0);
    const auto value = parse_number(text.substr(begin, last + 1 - begin), format);
    if (!value || before.size() + behind.size() > kLongestUnit) return std::nullopt;
    // What is left of a number that is written otherwise is no unit.
    for (const std::string_view unit : {before, behind})
        if (unit.find_first_of("+-(),;'\"_:") != std::string_view::npos || unit == ".") return std::nullopt;
    const std::string_view both_sides = !before.empty() && !behind.empty() ? " " : "";
    return Amount{sign < 0 ? -*value : *value,
                  {Unit::Kind::quantity, std::string(before).append(both_sides).append(behind)}};
}

/// "(5)", "$(5)" and "($5)" are -5.
std::optional<Amount> parse_in_parentheses(std::string_view text, const NumberFormat& format) {
    const auto open = text.find('('), close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
    std::string inside(text.substr(0, open));
    inside.append(text.substr(open + 1, close - open - 1)).append(text.substr(close + 1));
    auto amount = parse_quantity(trimmed(inside), format);
    const bool has_sign = inside.find('-') != std::string::npos || inside.find('+') != std::string::npos;
    if (!amount || has_sign || inside.find(kMinus) != std::string::npos) return std::nullopt;
    amount->value = -amount->value;
    return amount;
}

bool is_money_or_share(const std::string& unit) {
    constexpr std::array<std::string_view, 35> kUnits{"$",
                                                      "\xE2\x82\xAC",
                                                      "\xC2\xA3",
                                                      "\xC2\xA5",
                                                      "\xE2\x82\xB9",
                                                      "\xE2\x82\xA9",
                                                      "\xE2\x82\xBD",
                                                      "\xE2\x82\xBA",
                                                      "%",
                                                      "\xE2\x80\xB0",
                                                      "\xE2\x82\xAA",
                                                      "\xE0\xB8\xBF",
                                                      "\xC2\xA2",
                                                      "US$",
                                                      "A$",
                                                      "C$",
                                                      "R$",
                                                      "HK$",
                                                      "NZ$",
                                                      "S$",
                                                      "kr",
                                                      "Kr",
                                                      "kr.",
                                                      "Rs",
                                                      "Rs.",
                                                      "EUR",
                                                      "USD",
                                                      "GBP",
                                                      "JPY",
                                                      "CNY",
                                                      "CHF",
                                                      "INR",
                                                      "RUB",
                                                      "SEK",
                                                      "NOK"};
    return std::find(kUnits.begin(), kUnits.end(), unit) != kUnits.end();
}

constexpr std::string_view kSeparators = ",.' _";

/// The ways of writing numbers that there are, `format`'s own first, then those nearest to it.
std::vector<NumberFormat> formats_near(const NumberFormat& format) {
    std::vector<NumberFormat> formats{format};
    for (const char decimal : {format.decimal, format.decimal == '.' ? ',' : '.'}) {
        if (decimal != format.decimal) formats.push_back({decimal, 0});
        for (const char thousands : kSeparators)
            if (thousands != decimal) formats.push_back({decimal, thousands});
    }
    return formats;
}

std::string option_word(char c) { return c == ' ' ? "space" : c == '\'' ? "\"'\"" : std::string("'") + c + "'"; }

/// The options that lead from one way of writing numbers to another.
std::string options_between(const NumberFormat& from, const NumberFormat& to) {
    std::string options;
    if (to.decimal != from.decimal) options = "--decimal " + option_word(to.decimal);
    if (to.thousands != from.thousands && to.thousands != 0)
        options += (options.empty() ? "" : " ") + ("--thousands " + option_word(to.thousands));
    return options;
}

template <class Parse>
std::string options_that_read(const std::vector<std::string_view>& texts, const NumberFormat& format, Parse parse) {
    constexpr std::size_t kMostOffered = 2;
    std::string options;
    std::vector<NumberFormat> offered;
    for (const NumberFormat& other : formats_near(format)) {
        const bool says_more_than_needed = std::any_of(offered.begin(), offered.end(), [&](const NumberFormat& one) {
            return one.thousands == other.thousands || (one.thousands == 0 && one.decimal == other.decimal);
        });
        if (offered.size() == kMostOffered || says_more_than_needed ||
            !std::all_of(texts.begin(), texts.end(), [&](auto text) { return parse(text, other); }))
            continue;
        if (options_between(format, other).empty()) return {};  // it is read as it is
        options += (options.empty() ? "" : " or ") + options_between(format, other);
        offered.push_back(other);
    }
    return options;
}

}  // namespace

std::string in_words(const Unit& unit) {
    switch (unit.kind) {
        case Unit::Kind::date: return "a date without a time zone";
        case Unit::Kind::instant: return "a time with a time zone";
        case Unit::Kind::time: return "a time of day";
        case Unit::Kind::quantity: break;
    }
    return unit.text.empty() ? "a number without a unit" : "a number with the unit '" + printable(unit.text) + "'";
}

std::optional<Amount> parse_amount(std::string_view text, const NumberFormat& format) {
    if (const auto number = parse_number(text, format)) return Amount{*number, {}};
    if (const auto time = parse_iso_time(text)) return time;
    if (text.find('(') != std::string_view::npos) return parse_in_parentheses(text, format);
    return parse_quantity(text, format);
}

bool is_surely_amount(std::string_view text, const NumberFormat& format) {
    if (parse_iso_time(text) || is_customary_date(text)) return true;
    for (const NumberFormat& other : formats_near(format)) {
        const auto amount = parse_amount(text, other);
        if (!amount || parse_number(text, other)) continue;
        if (amount->unit.text.empty() || is_money_or_share(amount->unit.text)) return true;
    }
    return false;
}

bool is_number_elsewhere(std::string_view text, const NumberFormat& format) {
    const auto formats = formats_near(format);
    return std::any_of(formats.begin(), formats.end(),
                       [&](const NumberFormat& other) { return parse_number(text, other).has_value(); });
}

std::string option_for_numbers(const std::vector<std::string_view>& texts, const NumberFormat& format,
                               std::size_t column_number) {
    const std::string plain =
        options_that_read(texts, format, [](auto text, const auto& f) { return parse_number(text, f).has_value(); });
    if (!plain.empty()) return plain;
    const std::string numeric = "--numeric " + std::to_string(column_number);
    std::optional<Unit> unit;
    const auto same_unit = [&](std::string_view text, const NumberFormat& other) {
        const auto amount = parse_amount(text, other);
        if (!amount) return false;
        if (!unit) unit = amount->unit;
        return *unit == amount->unit;
    };
    for (const NumberFormat& other : formats_near(format)) {
        unit.reset();
        if (!std::all_of(texts.begin(), texts.end(), [&](auto text) { return same_unit(text, other); })) continue;
        const std::string options = options_between(format, other);
        return options.empty() ? numeric : numeric + " " + options;
    }
    return {};
}

}  // namespace espalier::bench::io
