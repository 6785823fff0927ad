#include "harness/apps/io/header.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"

namespace espalier::bench::io {
namespace {

using Record = std::vector<std::string>;

bool has_number(const Record& record) {
    return std::any_of(record.begin(), record.end(), [](const auto& cell) { return parse_number(cell).has_value(); });
}

bool is_whole(std::string_view text) {
    return !text.empty() && text.size() <= 9 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_scikit_learn_line(const Record& first, const Record& second) {
    if (first.size() < 3 || !is_whole(first[0]) || !is_whole(first[1])) return false;
    if (static_cast<std::size_t>(std::stoul(first[1])) + 1 != second.size()) return false;
    if (has_number(Record(first.begin() + 2, first.end()))) return false;
    return std::all_of(second.begin(), second.end(),
                       [](const auto& cell) { return parse_number(cell) || is_missing(cell); });
}

std::vector<std::string> numbered_columns(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 1; i <= count; ++i) names.push_back("column " + std::to_string(i));
    return names;
}

void name_columns(Header& header, const Record& names, const CsvReader& csv) {
    header.named = true;
    header.names = names;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < header.names.size(); ++i) {
        if (header.names[i].empty()) header.names[i] = "column " + std::to_string(i + 1);
        if (!seen.insert(header.names[i]).second)
            csv.fail("two columns are called '" + printable(header.names[i]) +
                     "'; rename one, or use --no-header if this line is data");
    }
}

}  // namespace

Header read_header(CsvReader& csv, TableOptions::Header wanted) {
    Header header;
    std::vector<std::string_view> fields;
    if (!csv.next(fields)) throw BadFile(csv.path(), "is empty; it should hold a table of comma-separated values");
    const Record first(fields.begin(), fields.end());
    const std::int64_t first_line = csv.line();
    const bool header_line =
        wanted == TableOptions::Header::present || (wanted == TableOptions::Header::detect && !has_number(first));
    if (header_line) name_columns(header, first, csv);

    if (!csv.next(fields)) {
        if (header_line) throw BadFile(csv.path(), "has a header and no rows");
        header.names = numbered_columns(first.size());
        header.first_rows = {first};
        header.first_lines = {first_line};
        return header;
    }
    const Record second(fields.begin(), fields.end());
    if (wanted == TableOptions::Header::detect && !header_line && is_scikit_learn_line(first, second)) {
        header.declared_rows = std::stol(first[0]);
        header.classes.assign(first.begin() + 2, first.end());
        header.names = numbered_columns(second.size());
    } else if (!header_line) {
        header.names = numbered_columns(first.size());
        header.first_rows.push_back(first);
        header.first_lines.push_back(first_line);
    }
    header.first_rows.push_back(second);
    header.first_lines.push_back(csv.line());
    return header;
}

}  // namespace espalier::bench::io
