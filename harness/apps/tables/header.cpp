#include "harness/apps/tables/header.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/tables/amount.hpp"

namespace espalier::bench::io {
namespace {

using Record = std::vector<std::string>;

/// A line of 16 MiB could name millions of columns, which take more memory than the file. The widest tables, of
/// genomes, have tens of thousands.
constexpr std::size_t kMostColumns = 1 << 18;

bool is_whole(std::string_view text) {
    return !text.empty() && text.size() <= 9 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_scikit_learn_line(const Record& first, const Record& second) {
    if (first.size() < 3 || !is_whole(first[0]) || !is_whole(first[1])) return false;
    if (static_cast<std::size_t>(std::stoul(first[1])) + 1 != second.size()) return false;
    const Record names(first.begin() + 2, first.end());
    const MissingWords missing;
    const auto is_no_name = [&](const std::string& name) {
        return missing.hold_class(name);
    };  // of a row without label
    if (has_number(names, {}) || std::any_of(names.begin(), names.end(), is_no_name)) return false;
    return std::all_of(second.begin(), second.end(),
                       [&](const auto& cell) { return parse_number(cell) || missing.hold(cell); });
}

bool read_record(RecordSource& source, Record& record) {
    std::vector<std::string_view> fields;
    if (!source.next(fields)) return false;
    if (fields.size() > kMostColumns)
        source.fail("has " + std::to_string(fields.size()) + " columns, and a table has at most " +
                    std::to_string(kMostColumns) + "; is the delimiter right (--delimiter)?");
    record.assign(fields.begin(), fields.end());
    return true;
}

}  // namespace

bool has_number(const Record& record, const NumberFormat& format) {
    return std::any_of(record.begin(), record.end(), [&](const auto& cell) {
        return parse_number(cell, format).has_value() || is_number_elsewhere(cell, format);
    });
}

std::vector<std::string> numbered_columns(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 1; i <= count; ++i) names.push_back("column " + std::to_string(i));
    return names;
}

std::vector<std::string> named_columns(const Record& header, const std::string& path, std::int64_t line) {
    std::vector<std::string> names = header;
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].empty()) names[i] = "column " + std::to_string(i + 1);
        if (!seen.insert(names[i]).second)
            throw BadFile(path, "line " + std::to_string(line) + ": two columns are called '" + printable(names[i]) +
                                    "'; rename one, or use --no-header if this line is data");
    }
    return names;
}

FirstLines read_first_lines(RecordSource& source, TableOptions::Header wanted) {
    FirstLines lines;
    if (!read_record(source, lines.first))
        throw BadFile(source.path(), "is empty; it should hold a table of comma-separated values");
    lines.first_line = source.line();
    if (!read_record(source, lines.second)) return lines;
    lines.second_line = source.line();
    if (wanted == TableOptions::Header::detect && is_scikit_learn_line(lines.first, lines.second)) {
        lines.declared_rows = std::stol(lines.first[0]);
        lines.classes.assign(lines.first.begin() + 2, lines.first.end());
    }
    return lines;
}

}  // namespace espalier::bench::io
