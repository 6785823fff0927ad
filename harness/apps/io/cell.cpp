#include "harness/apps/io/cell.hpp"

#include <charconv>
#include <cmath>

namespace espalier::bench::io {
namespace {

bool same_letters(std::string_view text, std::string_view lower) {
    if (text.size() != lower.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
        if ((text[i] | 0x20) != lower[i]) return false;
    return true;
}

}  // namespace

std::optional<float> parse_number(std::string_view text) {
    // from_chars knows no plus sign.
    if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
    const char* const end = text.data() + text.size();
    float number = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (stop != end || error == std::errc::invalid_argument || text.empty()) return std::nullopt;
    if (error == std::errc::result_out_of_range) {
        // It does not tell too large from too small; double precision usually does.
        double wide = HUGE_VAL;
        const auto again = std::from_chars(text.data(), end, wide);
        if (again.ec == std::errc::result_out_of_range) {
            const auto exponent = text.find_first_of("eE");
            wide = exponent != std::string_view::npos && text[exponent + 1] == '-' ? 0.0 : HUGE_VAL;
        }
        return static_cast<float>(wide);
    }
    if (std::isnan(number)) return std::nullopt;
    return number;
}

bool is_missing(std::string_view text) {
    return text.empty() || text == "?" || same_letters(text, "na") || same_letters(text, "nan");
}

std::string printable(std::string_view text) {
    constexpr std::size_t kLongest = 40;
    std::string shown;
    for (const char c : text.substr(0, kLongest)) {
        const auto byte = static_cast<unsigned char>(c);
        shown += byte < 0x20 || byte == 0x7F ? '?' : c;
    }
    if (text.size() <= kLongest) return shown;
    // Not in the middle of a UTF-8 sequence.
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0) == 0x80) shown.pop_back();
    if (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0x80)) shown.pop_back();
    return shown + "...";
}

}  // namespace espalier::bench::io
