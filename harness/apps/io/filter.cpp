#include "harness/apps/io/filter.hpp"

#include <array>
#include <cmath>
#include <filesystem>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/text/counted.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::size_t kMiddle = 12;

Filter5x5 laplace() {
    Filter5x5 filter;
    filter.fill(-1);
    filter[kMiddle] = 24;
    return filter;
}

Filter5x5 gauss() {
    constexpr std::array<float, 5> binomial{1, 4, 6, 4, 1};
    Filter5x5 filter;
    for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = binomial[i / 5] * binomial[i % 5] / 256;
    return filter;
}

Filter5x5 sharpen() {
    Filter5x5 filter = gauss();
    for (float& c : filter) c = -c;
    filter[kMiddle] += 2;
    return filter;
}

Filter5x5 box() {
    Filter5x5 filter;
    filter.fill(1.0F / 25);
    return filter;
}

struct Named {
    std::string_view name;
    Filter5x5 (*make)();
};
constexpr std::array<Named, 4> kNamed{{{"laplace", laplace}, {"gauss", gauss}, {"sharpen", sharpen}, {"box", box}}};

/// 25 numbers need far less; a larger file is something else.
constexpr std::size_t kMaxFilterBytes = 64 * 1024;

/// What stands for separators or comments becomes a space; line ends stay.
std::string without_comments(std::string text) {
    bool comment = false;
    for (char& c : text) {
        if (c == '\n') comment = false;
        if (c == '#') comment = true;
        if (c != '\n' && (comment || c == ',' || c == ';' || c == '\t' || c == '\r')) c = ' ';
    }
    return text;
}

Filter5x5 read_filter(const std::string& path) {
    const std::string text = without_comments(read_small(path, kMaxFilterBytes, "a filter of 25 numbers"));
    Filter5x5 filter{};
    std::size_t count = 0;
    std::size_t line = 1;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\n') ++line;
        if (text[at] == '\n' || text[at] == ' ') {
            ++at;
            continue;
        }
        const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
        const std::string word = text.substr(at, end - at);
        const auto number = parse_number(word);
        if (!number || !std::isfinite(static_cast<float>(*number)))
            throw BadFile(path, "line " + std::to_string(line) + ": '" + printable(word) +
                                    "' is not a number; a filter is 25 numbers, five rows of five");
        if (count < filter.size()) filter[count] = static_cast<float>(*number);
        ++count;
        at = end;
    }
    if (count != filter.size())
        throw BadFile(path, "holds " + counted(count, "number") + "; a filter is 25, five rows of five");
    return filter;
}

}  // namespace

std::vector<std::string_view> filter_names() {
    std::vector<std::string_view> names;
    for (const Named& named : kNamed) names.push_back(named.name);
    return names;
}

Filter5x5 filter(const std::string& name_or_path) {
    for (const Named& named : kNamed)
        if (named.name == name_or_path) return named.make();
    if (!std::filesystem::exists(name_or_path)) {
        std::string known;
        for (const Named& named : kNamed) known.append(named.name).append(", ");
        throw BadFile(name_or_path,
                      "is neither a filter's name nor a file; use " + known + "or a text file of 25 numbers");
    }
    return read_filter(name_or_path);
}

}  // namespace espalier::bench::io
