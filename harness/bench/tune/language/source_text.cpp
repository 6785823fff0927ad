#include "harness/bench/tune/language/source_text.hpp"

#include <algorithm>
#include <cctype>

namespace espalier::bench::tune {

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
    for (std::size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_word_character(text[at - 1])) && (end == text.size() || !is_word_character(text[end])))
            return at;
    }
    return std::string_view::npos;
}

std::string without_comments(std::string_view source) {
    std::string out;
    for (std::size_t i = 0; i < source.size(); ++i) {
        const std::string_view rest = source.substr(i);
        if (rest.starts_with("//")) {
            i += std::min(rest.find('\n'), rest.size()) - 1;
        } else if (rest.starts_with("/*")) {
            const std::size_t end = rest.find("*/", 2);
            const std::string_view comment = rest.substr(0, end == std::string_view::npos ? rest.size() : end + 2);
            out += ' ' + std::string(static_cast<std::size_t>(std::ranges::count(comment, '\n')), '\n');
            i += comment.size() - 1;
        } else if (rest[0] == '"' || rest[0] == '\'') {
            std::size_t end = 1;
            while (end < rest.size() && rest[end] != rest[0]) end += rest[end] == '\\' ? 2 : 1;
            const std::string_view text = rest.substr(0, std::min(end + 1, rest.size()));
            out += text;
            i += text.size() - 1;
        } else {
            out += rest[0];
        }
    }
    return out;
}

bool has_kernel(std::string_view source, std::string_view kernel) {
    std::string_view name = kernel.substr(0, kernel.find('<'));
    if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) name.remove_prefix(colon + 1);
    const std::string text = without_comments(source);
    for (std::size_t at = find_word(text, name); at != std::string::npos; at = find_word(text, name, at + 1)) {
        const std::size_t global = text.rfind("__global__", at);
        if (global != std::string::npos && text.find_first_of(";{}", global) > at) return true;
    }
    return false;
}

}  // namespace espalier::bench::tune
