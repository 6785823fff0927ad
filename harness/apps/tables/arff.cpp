#include "harness/apps/tables/arff.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/base/text/counted.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::string_view kArffBlanks = " \t";
constexpr std::size_t kMostAttributes = 1 << 18;  // as many columns as a table has

void skip_blanks(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(kArffBlanks), text.size()));
}

bool begins_with_word(std::string_view text, std::string_view word) {
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b; };
    if (text.size() < word.size() ||
        !std::equal(word.begin(), word.end(), text.begin(), [&](char b, char a) { return same(a, b); }))
        return false;
    return text.size() == word.size() || kArffBlanks.find(text[word.size()]) != std::string_view::npos ||
           text[word.size()] == '{';
}

/// Takes the word off the text's begin.
bool take_word(std::string_view& text, std::string_view word) {
    if (!begins_with_word(text, word)) return false;
    text.remove_prefix(word.size());
    skip_blanks(text);
    return true;
}

}  // namespace

bool begins_as_arff(std::string_view line) {
    return begins_with_word(line, "@relation") || begins_with_word(line, "@attribute");
}

/// The next line that holds anything but a comment, without blanks before it.
bool ArffReader::next_line(std::string_view& line) {
    while (lines_.next(line)) {
        skip_blanks(line);
        while (!line.empty() && kArffBlanks.find(line.back()) != std::string_view::npos) line.remove_suffix(1);
        if (!line.empty() && line[0] != '%') return true;
    }
    return false;
}

/// A value up to one of the characters in `ends`, or to the end of the text, which loses it.
ArffReader::Value ArffReader::take_value(std::string_view& rest, std::string_view ends) const {
    skip_blanks(rest);
    Value value;
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"')) {
        const auto end = std::min(rest.find_first_of(ends), rest.size());
        value.text = rest.substr(0, end);
        while (!value.text.empty() && kArffBlanks.find(value.text.back()) != std::string_view::npos)
            value.text.pop_back();
        rest.remove_prefix(end);
        return value;
    }
    const char quote = rest[0];
    value.quoted = true;
    std::size_t at = 1;
    for (; at < rest.size() && rest[at] != quote; ++at) {
        if (rest[at] == '\\' && at + 1 < rest.size()) {
            const char next = rest[++at];
            value.text += next == 'n' ? '\n' : next == 't' ? '\t' : next == 'r' ? '\r' : next;
        } else {
            value.text += rest[at];
        }
    }
    if (at >= rest.size()) fail(std::string("a quote (") + quote + ") is not closed; close it, or write \\" + quote);
    rest.remove_prefix(at + 1);
    skip_blanks(rest);
    if (!rest.empty() && ends.find(rest[0]) == std::string_view::npos)
        fail("text follows the closing quote of '" + printable(value.text) + "'; put a comma between values");
    return value;
}

void ArffReader::declare_values(Attribute& attribute, std::string_view rest) {
    const std::string shown = "'" + printable(attribute.name) + "'";
    rest.remove_prefix(1);  // {
    while (true) {
        skip_blanks(rest);
        if (rest.empty()) fail("the values of " + shown + " have no closing }; they stand on one line");
        if (rest[0] == '}') break;
        Value value = take_value(rest, ",}");
        if (value.text.empty() && !value.quoted) fail("a value of " + shown + " is empty; take out one comma");
        attribute.values.push_back(std::move(value.text));
        if (!rest.empty() && rest[0] == ',') rest.remove_prefix(1);
    }
    rest.remove_prefix(1);
    skip_blanks(rest);
    if (!rest.empty() && rest[0] != '%') fail("text follows the values of " + shown);
    if (attribute.values.empty()) fail(shown + " declares no value; name its values in {}");
    attribute.by_text.resize(attribute.values.size());
    std::iota(attribute.by_text.begin(), attribute.by_text.end(), std::size_t{0});
    std::ranges::sort(attribute.by_text, {}, [&](std::size_t i) -> const std::string& { return attribute.values[i]; });
}

/// What stands behind "@attribute".
void ArffReader::declare(std::string_view rest) {
    if (attributes_.size() == kMostAttributes)
        fail("declares more than " + std::to_string(kMostAttributes) + " attributes, which no table has");
    Attribute attribute{take_value(rest, " \t{").text, {}};
    if (attribute.name.empty()) fail("names no attribute; write @attribute, a name and a type");
    skip_blanks(rest);
    attribute.type = rest;
    DeclaredColumn column;
    if (!rest.empty() && rest[0] == '{') {
        column.kind = ColumnKind::nominal;
        declare_values(attribute, rest);
    } else if (take_word(rest, "numeric") || take_word(rest, "real") || take_word(rest, "integer")) {
        column.kind = ColumnKind::numeric;
    } else if (take_word(rest, "date")) {
        column = {ColumnKind::numeric, true};
    } else if (!take_word(rest, "string")) {
        fail("'" + printable(attribute.name) + "' is of type '" + printable(attribute.type) +
             "', which is not known: numeric, real, integer, string, date and {a, b, ...} are" +
             (begins_with_word(attribute.type, "relational") ? "; write its attributes as columns" : ""));
    }
    attributes_.push_back(std::move(attribute));
    declared_.push_back(column);
}

void ArffReader::read_header() {
    std::string_view line;
    while (next_line(line)) {
        if (take_word(line, "@attribute")) {
            declare(line);
        } else if (take_word(line, "@data")) {
            if (attributes_.empty()) fail("the data begin before any @attribute; declare the columns");
            row_.resize(attributes_.size());
            return;
        } else if (!begins_with_word(line, "@relation")) {
            fail("'" + printable(line) + "' is no line of a header: @relation, @attribute or @data");
        }
    }
    throw BadFile(path(), "has a header of ARFF without @data behind it; get the whole file");
}

/// Whether a value is one that its attribute may have.
void ArffReader::check(std::size_t number) {
    const Attribute& attribute = attributes_[number];
    Value& value = row_[number];
    const std::string shown = "'" + printable(value.text) + "'",
                      of = " of attribute '" + printable(attribute.name) + "'";
    if (value.text == "?" && !value.quoted) return;
    if (value.text.empty() && !value.quoted) fail("a value" + of + " is empty; write ? for one that is not known");
    if (declared_[number].kind == ColumnKind::nominal) {
        const auto text = [&](std::size_t i) -> const std::string& { return attribute.values[i]; };
        const auto known = std::ranges::lower_bound(attribute.by_text, value.text, {}, text);
        if (known == attribute.by_text.end() || text(*known) != value.text)
            fail(shown + of + " is none of the values it declares, " + printable(attribute.type) +
                 "; correct it, declare it, or write ? if it is not known");
    } else if (declared_[number].kind == ColumnKind::numeric && !declared_[number].date && !parse_number(value.text)) {
        fail(shown + of + " is no number, as it declares; correct it, or write ? if it is not known");
    }
}

void ArffReader::read_dense(std::string_view line) {
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
        if (count < row_.size()) row_[count] = take_value(line, ",");
        if (count >= row_.size()) static_cast<void>(take_value(line, ","));
        more = !line.empty() && line[0] == ',';
        if (more) line.remove_prefix(1);
    }
    if (count == row_.size()) return;
    fail(counted(count, "value") + " where the header declares " + counted(row_.size(), "attribute") +
         "; complete the row, quote a value that holds a comma, and leave out weights of rows");
}

void ArffReader::read_sparse(std::string_view line) {
    std::vector<bool> given(row_.size());
    line.remove_prefix(1);  // {
    while (true) {
        skip_blanks(line);
        if (line.empty()) fail("a sparse row has no closing }");
        if (line[0] == '}') break;
        std::size_t index = 0;
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), index);
        if (error != std::errc{} || index >= row_.size())
            fail("'" + printable(line.substr(0, line.find_first_of(" ,}"))) +
                 "' is no attribute's number: these go from 0 to " + std::to_string(row_.size() - 1));
        if (given[index]) fail("attribute " + std::to_string(index) + " stands twice in one row");
        given[index] = true;
        line.remove_prefix(static_cast<std::size_t>(end - line.data()));
        row_[index] = take_value(line, ",}");
        if (!line.empty() && line[0] == ',') line.remove_prefix(1);
    }
    line.remove_prefix(1);
    skip_blanks(line);
    if (!line.empty() && line[0] != '%') fail("text follows a sparse row; weights of rows are not known");
    for (std::size_t a = 0; a < row_.size(); ++a) {
        if (given[a]) continue;
        if (declared_[a].kind == ColumnKind::undecided || declared_[a].date)
            fail("the sparse row lacks attribute '" + printable(attributes_[a].name) +
                 "', and no text or date stands for what is absent; write it, or ?");
        row_[a] = {declared_[a].kind == ColumnKind::nominal ? attributes_[a].values[0] : "0", true};
    }
}

bool ArffReader::next(std::vector<std::string_view>& fields) {
    fields.clear();
    if (!header_read_) {
        header_read_ = true;
        read_header();
        for (const Attribute& attribute : attributes_) fields.emplace_back(attribute.name);
        return true;
    }
    std::string_view line;
    if (!next_line(line)) return false;
    line[0] == '{' ? read_sparse(line) : read_dense(line);
    for (std::size_t a = 0; a < row_.size(); ++a) {
        check(a);
        fields.emplace_back(row_[a].text);
    }
    return true;
}

}  // namespace espalier::bench::io
