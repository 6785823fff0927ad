#include "harness/apps/io/cell.hpp"

#include <algorithm>
#include <array>

namespace espalier::bench::io {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool same_letters(std::string_view text, std::string_view word) {
    return text.size() == word.size() &&
           std::equal(text.begin(), text.end(), word.begin(), [](char a, char b) { return lower(a) == b; });
}

bool is_usual(std::string_view cell) {
    if (cell.empty()) return true;
    constexpr std::size_t kLongest = 4;
    if (cell.size() > kLongest) return false;
    constexpr std::string_view kFirst = "?-nN#<";  // letters that a word begins with
    if (kFirst.find(cell[0]) == std::string_view::npos) return false;
    constexpr std::array<std::string_view, 10> kWords{"?",    "-",    "na",   "n/a", "#n/a",
                                                      "<na>", "null", "none", "nan", "-nan"};
    return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return same_letters(cell, word); });
}

}  // namespace

bool MissingWords::is_one(std::string_view cell) const {
    if (words_.empty()) return is_usual(cell);
    return cell.empty() || std::find(words_.begin(), words_.end(), cell) != words_.end();
}

bool MissingWords::hold_class(std::string_view cell) const {
    return hold(cell) && !(words_.empty() && (cell == "-" || same_letters(cell, "none")));
}

}  // namespace espalier::bench::io
