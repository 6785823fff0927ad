#include "harness/apps/tables/libsvm.hpp"

#include <algorithm>
#include <charconv>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/base/text/counted.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::uint32_t kMostIndex = 1 << 18;  // as many columns as a table has

/// The next word of a line, which loses it; empty at its end.
std::string_view next_word(std::string_view& line) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return line = {};
    const auto end = std::min(line.find_first_of(" \t", begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find('#')); }

}  // namespace

bool is_libsvm_row(std::string_view line) {
    line = without_comment(line);
    if (!parse_number(next_word(line))) return false;
    std::string_view word = next_word(line);
    if (word.empty()) return false;  // a label alone is a number as any other
    for (; !word.empty(); word = next_word(line)) {
        const auto colon = word.find(':');
        if (colon == std::string_view::npos || colon == 0) return false;
        const std::string_view index = word.substr(0, colon);
        if (index != "qid" && index.find_first_not_of("0123456789") != std::string_view::npos) return false;
        if (!parse_number(word.substr(colon + 1))) return false;
    }
    return true;
}

LibsvmReader::LibsvmReader(std::string path, std::unique_ptr<TextSource> source, std::size_t columns,
                           std::size_t max_bytes)
    : lines_(std::move(path), std::move(source)),
      max_bytes_(max_bytes),
      attributes_(columns > 0 ? columns - 1 : 0),
      given_(columns > 0) {}

bool LibsvmReader::read_row(Row& row) {
    std::string_view line;
    while (lines_.next(line)) {
        line = without_comment(line);
        if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
        row.line = line_ = lines_.line();
        row.text.clear();
        row.entries.clear();
        parse(line, row);
        return true;
    }
    return false;
}

void LibsvmReader::parse(std::string_view line, Row& row) {
    const std::string_view label = next_word(line);
    if (label.find(':') != std::string_view::npos)
        fail("begins with '" + printable(label) + "' and has no label; write the label before the first index");
    if (label.find(',') != std::string_view::npos)
        fail("has several labels ('" + printable(label) + "'); keep one for each row");
    row.text = label;
    row.label_size = static_cast<std::uint32_t>(label.size());
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) add_entry(word, row);
}

void LibsvmReader::add_entry(std::string_view word, Row& row) {
    const auto colon = word.find(':');
    const std::string_view number = word.substr(0, colon);
    if (colon == std::string_view::npos)
        fail("'" + printable(word) + "' is no index:value; write one value for each index, without blanks about the :");
    const std::string_view value = word.substr(colon + 1);
    if (number == "qid") return;
    std::uint32_t index = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    if (error != std::errc{} || end != number.data() + number.size() || index == 0 || index > kMostIndex)
        fail("'" + printable(number) + "' is no index: these are whole numbers from 1 to " +
             std::to_string(kMostIndex) + (number == "0" ? "; add 1 to those of a file that counts from 0" : ""));
    if (given_ && index > attributes_)
        fail("index " + std::to_string(index) + " is beyond the " + counted(attributes_, "attribute") +
             " of the training table; take it out, or give a training row this index with the value 0");
    if (!row.entries.empty() && index <= row.entries.back().attribute + 1)
        fail("index " + std::to_string(index) + " stands behind index " +
             std::to_string(row.entries.back().attribute + 1) + "; indices ascend, and each stands once");
    if (!parse_number(value)) fail("'" + printable(value) + "', of index " + std::to_string(index) + ", is no number");
    row.entries.push_back(
        {index - 1, static_cast<std::uint32_t>(row.text.size()), static_cast<std::uint32_t>(value.size())});
    row.text += value;
}

/// The table that the rows make: refused before it is there.
void LibsvmReader::check_size() const {
    const double dense = static_cast<double>(rows_.size()) * static_cast<double>(attributes_ + 1) * sizeof(Number);
    if (dense <= static_cast<double>(max_bytes_) && bytes_ <= max_bytes_) return;
    fail("up to here there are " + counted(rows_.size(), "row") + " of " + counted(attributes_, "attribute") +
         ", which take " + std::to_string(static_cast<std::uint64_t>(std::max(dense, static_cast<double>(bytes_)))) +
         " bytes, but the memory budget is " + std::to_string(max_bytes_) + " bytes; raise --memory or use fewer rows");
}

void LibsvmReader::read_all() {
    Row row;
    while (read_row(row)) {
        if (!row.entries.empty()) attributes_ = std::max<std::size_t>(attributes_, row.entries.back().attribute + 1);
        bytes_ += sizeof(Row) + row.text.size() + row.entries.size() * sizeof(Entry);
        rows_.push_back({row.line, row.text, row.label_size, row.entries});
        check_size();
    }
    if (attributes_ == 0) throw BadFile(path(), "has no row with an index and a value");
}

void LibsvmReader::name_columns(std::vector<std::string_view>& fields) {
    for (std::size_t a = 1; a <= attributes_; ++a) names_.push_back(std::to_string(a));
    names_.emplace_back("label");
    declared_.assign(attributes_ + 1, {.kind = ColumnKind::numeric});
    declared_.back().kind = ColumnKind::undecided;
    fields.assign(names_.begin(), names_.end());
    line_ = 1;
}

bool LibsvmReader::next(std::vector<std::string_view>& fields) {
    if (!named_) {
        named_ = true;
        if (!given_) read_all();
        name_columns(fields);
        return true;
    }
    if (given_) {
        if (!read_row(row_)) return false;
    } else {
        if (next_row_ == rows_.size()) return false;
        row_ = std::move(rows_[next_row_++]);
    }
    line_ = row_.line;
    fields.assign(attributes_ + 1, "0");
    for (const Entry& entry : row_.entries)
        fields[entry.attribute] = std::string_view(row_.text).substr(entry.begin, entry.size);
    fields.back() = std::string_view(row_.text).substr(0, row_.label_size);
    return true;
}

}  // namespace espalier::bench::io
