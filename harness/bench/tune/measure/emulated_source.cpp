#include "harness/bench/tune/measure/emulated_source.hpp"

#include <algorithm>
#include <cctype>

#include "harness/bench/tune/language/source_text.hpp"

namespace espalier::bench::tune {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// The declaration behind `__shared__`, up to its semicolon: type, name, dimensions. False for one that is more than
/// that, which the compiler gets as a static.
struct SharedDeclaration {
    std::string type, name, dimensions;

    bool read(std::string_view text) {
        text = trimmed(text);
        if (const std::size_t align = text.find("__align__"); align == 0) text = behind_brackets(text);
        if (const std::size_t align = text.find("alignas"); align == 0) text = behind_brackets(text);
        if (text.find_first_of("=(){}") != std::string_view::npos) return false;
        const std::size_t bracket = std::min(text.find('['), text.size());
        dimensions = text.substr(bracket);
        const std::string_view front = trimmed(text.substr(0, bracket));
        std::size_t start = front.size();
        while (start > 0 && is_word_character(front[start - 1])) --start;
        name = front.substr(start);
        type = trimmed(front.substr(0, start));
        const bool one_only = type.find('<') != std::string::npos || type.find(',') == std::string::npos;
        return !name.empty() && !type.empty() && one_only && dimensions.find(',') == std::string::npos;
    }

private:
    static std::string_view behind_brackets(std::string_view text) {
        const std::size_t end = text.find(')');
        return end == std::string_view::npos ? text : trimmed(text.substr(end + 1));
    }
};

/// The line breaks of a text.
std::string line_breaks(std::string_view text) {
    return std::string(static_cast<std::size_t>(std::ranges::count(text, '\n')), '\n');
}

std::string with_shared_arrays(const std::string& source) {
    constexpr std::string_view kShared = "__shared__", kExtern = "extern";
    std::string out;
    std::size_t done = 0;
    int arrays = 0;
    for (std::size_t at = find_word(source, kShared); at != std::string::npos;
         at = find_word(source, kShared, at + 1)) {
        const std::size_t end = source.find(';', at);
        if (end == std::string::npos) break;
        std::size_t start = at, back = at;
        while (back > 0 && is_space(source[back - 1])) --back;
        const bool external =
            back >= kExtern.size() && source.compare(back - kExtern.size(), kExtern.size(), kExtern) == 0;
        if (external) start = back - kExtern.size();
        const std::string_view text = std::string_view(source).substr(at + kShared.size(), end - at - kShared.size());
        SharedDeclaration declared;
        if (!declared.read(text)) continue;
        out += source.substr(done, start - done);
        if (external)
            out += "auto* const " + declared.name + " = ::espalier::device::dynamic_shared<" + declared.type + ">();";
        else
            out += "auto& " + declared.name + " = ::espalier::device::shared<" + declared.type + declared.dimensions +
                   ", struct espalier_shared_" + std::to_string(arrays++) + ">();";
        out += line_breaks(std::string_view(source).substr(start, end - start));
        done = end + 1;
    }
    return out + source.substr(done);
}

/// Without the lines that include what only a CUDA toolkit has.
std::string without_cuda_headers(const std::string& source) {
    std::string out;
    for (std::size_t at = 0; at < source.size();) {
        const std::size_t end = std::min(source.find('\n', at), source.size());
        const std::string_view line = trimmed(std::string_view(source).substr(at, end - at));
        const bool cuda =
            line.starts_with("#") && line.find("include") != std::string_view::npos &&
            (line.find("<cuda") != std::string_view::npos || line.find("\"cuda") != std::string_view::npos ||
             line.find("device_launch_parameters") != std::string_view::npos);
        if (!cuda) out += source.substr(at, end - at);
        out += '\n';
        at = end + 1;
    }
    return out;
}

}  // namespace

std::string emulated_source(std::string_view source, const std::string& name, const std::string& defines,
                            const std::string& kernel) {
    return "#include \"tuned_kernel.hpp\"\n" + defines + "#line 1 \"" + name + "\"\n" +
           with_shared_arrays(without_cuda_headers(without_comments(source))) + "\nESPALIER_TUNED_KERNEL((" + kernel +
           "))\n";
}

}  // namespace espalier::bench::tune
