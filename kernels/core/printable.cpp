#include "kernels/core/printable.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace espalier {
namespace {

/// A character at the start of a text: how many bytes, and which. No UTF-8: one byte.
struct Character {
    std::size_t bytes = 1;
    std::uint32_t code = 0;
    bool valid = false;
};

/// By Unicode's table 3-7: no overlong forms, no surrogates, nothing beyond U+10FFFF.
Character character_at(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {1, lead, true};
    const std::size_t bytes = lead >= 0xC2 && lead <= 0xDF ? 2 : lead >= 0xE0 && lead <= 0xEF ? 3 : 4;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {1, lead, false};
    std::uint32_t code = lead & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return {1, lead, false};
        code = code << 6 | (byte(i) & 0x3FU);
    }
    constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool valid = code >= kLeast[bytes] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    return valid ? Character{bytes, code, true} : Character{1, lead, false};
}

/// Characters that do something instead of showing something.
bool acts(std::uint32_t code) {
    struct Range {
        std::uint32_t first, last;
    };
    constexpr Range kActing[] = {
        {0x00, 0x1F},      {0x7F, 0x9F},                        // C0, DEL and C1, among them ESC and CSI
        {0x061C, 0x061C},  {0x200E, 0x200F}, {0x202A, 0x202E},  // direction of writing
        {0x2066, 0x2069},  {0x2028, 0x2029}, {0xFEFF, 0xFEFF},  // isolates, line ends, a mark of no width
        {0xE0000, 0xE007F}};                                    // tags, which nobody sees
    return std::any_of(std::begin(kActing), std::end(kActing),
                       [&](const Range& range) { return range.first <= code && code <= range.last; });
}

std::string hexadecimal(std::uint32_t value, int digits) {
    std::string text;
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
    return text;
}

std::string shown(const Character& character, std::string_view bytes) {
    if (!character.valid || character.code < 0x80) {
        if (character.valid && !acts(character.code)) return std::string(bytes);
        if (bytes == "\n" || bytes == "\t" || bytes == "\r") return " ";
        return "\\x" + hexadecimal(character.code, 2);
    }
    if (!acts(character.code)) return std::string(bytes);
    return character.code < 0x10000 ? "\\u" + hexadecimal(character.code, 4) : "\\U" + hexadecimal(character.code, 8);
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
    constexpr std::string_view kCut = "...";
    std::string result;
    std::size_t fits = 0;  // of the result, with the mark of a cut behind it
    while (!text.empty()) {
        const Character character = character_at(text);
        result += shown(character, text.substr(0, character.bytes));
        text.remove_prefix(character.bytes);
        if (result.size() > longest) return result.substr(0, fits).append(kCut.substr(0, longest));
        if (result.size() + kCut.size() <= longest) fits = result.size();
    }
    return result;
}

std::string printable_lines(std::string_view text) {
    std::string result;
    while (true) {
        const auto end = text.find('\n');
        result += printable(text.substr(0, end), std::string::npos);
        if (end == std::string_view::npos) return result;
        result += '\n';
        text.remove_prefix(end + 1);
    }
}

}  // namespace espalier
