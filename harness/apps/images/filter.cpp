#include "harness/apps/images/filter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/base/text/counted.hpp"

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

/// 49 numbers need far less; a larger file is something else.
constexpr std::size_t kMaxFilterBytes = 64 * 1024;

constexpr const char* kShapes = "25, five rows of five, or 9, three rows of three, or 49, seven rows of seven";

/// What stands for separators or comments becomes a space, what ends a line (also CR LF, or CR alone) a newline.
std::string without_comments(std::string text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    bool comment = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char& c = text[i];
        if (c == '\r') c = i + 1 < text.size() && text[i + 1] == '\n' ? ' ' : '\n';
        if (c == '\n') comment = false;
        if (c == '#') comment = true;
        if (c != '\n' && (comment || c == ',' || c == ';' || c == '\t')) c = ' ';
    }
    return text;
}

/// The numbers of each line that has some.
std::vector<std::vector<float>> read_rows(const std::string& path) {
    const std::string text = without_comments(read_small(path, kMaxFilterBytes, "a filter of at most 49 numbers"));
    std::vector<std::vector<float>> rows;
    bool begun = false;  // the last row
    std::size_t line = 1;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\n' || text[at] == ' ') {
            if (text[at++] == '\n') {
                ++line;
                begun = false;
            }
            continue;
        }
        const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
        const std::string word = text.substr(at, end - at);
        const auto number = parse_number(word);
        if (!number || !std::isfinite(static_cast<float>(*number)))
            throw BadFile(path, "line " + std::to_string(line) + ": '" + printable(word) +
                                    "' is not a number; a filter is 25 numbers, five rows of five, or 9 or 49");
        if (!begun) rows.emplace_back();
        begun = true;
        rows.back().push_back(static_cast<float>(*number));
        at = end;
    }
    return rows;
}

/// "7, 7, 7, 4", of the first rows.
std::string lengths_of(const std::vector<std::vector<float>>& rows) {
    constexpr std::size_t kShown = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i)
        text.append(i == 0 ? "" : ", ").append(std::to_string(rows[i].size()));
    return rows.size() > kShown ? text + ", ..." : text;
}

SquareFilter read_filter(const std::string& path) {
    const auto rows = read_rows(path);
    const std::size_t side = rows.size();
    const bool square = (side == 3 || side == 5 || side == 7) &&
                        std::ranges::all_of(rows, [&](const auto& row) { return row.size() == side; });
    if (!square) {
        std::size_t count = 0;
        for (const auto& row : rows) count += row.size();
        const std::string found = rows.empty() ? "" : "; its rows have " + lengths_of(rows);
        throw BadFile(path, "holds " + counted(count, "number") + "; a filter is " + kShapes + found);
    }
    SquareFilter filter{.side = side == 7 ? 7 : 5, .coefficients = {}};
    std::vector<float> numbers;
    for (const auto& row : rows) numbers.insert(numbers.end(), row.begin(), row.end());
    if (side == 3) {
        Filter3x3 small;
        std::ranges::copy(numbers, small.begin());
        const Filter5x5 larger = espalier::as_5x5(small);
        numbers.assign(larger.begin(), larger.end());
    }
    filter.coefficients = std::move(numbers);
    return filter;
}

}  // namespace

std::vector<std::string_view> filter_names() {
    std::vector<std::string_view> names;
    for (const Named& named : kNamed) names.push_back(named.name);
    return names;
}

Filter5x5 SquareFilter::as_5x5() const {
    Filter5x5 filter{};
    std::copy_n(coefficients.begin(), filter.size(), filter.begin());
    return filter;
}

Filter7x7 SquareFilter::as_7x7() const {
    Filter7x7 filter{};
    std::copy_n(coefficients.begin(), filter.size(), filter.begin());
    return filter;
}

SquareFilter square_filter(const std::string& name_or_path) {
    for (const Named& named : kNamed)
        if (named.name == name_or_path) {
            const Filter5x5 filter = named.make();
            return {.coefficients = {filter.begin(), filter.end()}};
        }
    if (name_or_path != kStandardStream && !std::filesystem::exists(name_or_path)) {
        std::string known;
        for (const Named& named : kNamed) known.append(named.name).append(", ");
        throw BadFile(name_or_path, "is neither a filter's name nor a file; use " + known +
                                        "or a text file of 25 numbers in five rows, or of 9 or 49");
    }
    return read_filter(name_or_path);
}

Filter5x5 filter(const std::string& name_or_path) {
    const SquareFilter square = square_filter(name_or_path);
    if (square.side != 5) throw BadFile(name_or_path, "is a filter of seven rows; here it is to have three or five");
    return square.as_5x5();
}

}  // namespace espalier::bench::io
