#include "harness/apps/io/column_learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::bench::io {
namespace {

/// A column with more values than this is a key or free text, not a nominal attribute, and would let the
/// memory grow with the file.
constexpr std::size_t kMostValues = 65536;

/// So many different texts, all of them numbers, are no names.
constexpr std::size_t kMostCollected = 4096;

/// What a text and its places in the two tables of a column take, about.
constexpr std::size_t kValueBytes = 128;

constexpr Number kMissing = std::numeric_limits<Number>::quiet_NaN();

std::string numbered(const ColumnRules& rules) { return std::to_string(rules.position + 1); }

char other(char decimal) { return decimal == '.' ? ',' : '.'; }

bool has_other_decimal(std::string_view cell, const ColumnRules& rules) {
    return cell.find(other(rules.decimal)) != std::string_view::npos && parse_number(cell, other(rules.decimal));
}

std::string other_decimal(std::string_view cell, const ColumnRules& rules) {
    return "'" + printable(cell) + "' is no number with a decimal " + (rules.decimal == '.' ? "point" : "comma") +
           "; say --decimal '" + other(rules.decimal) + "'" +
           (rules.decimal == '.' ? ", or take the commas out if they stand between thousands" : "");
}

}  // namespace

Number number_or_fail(std::string_view cell, std::int64_t line, const ColumnRules& rules) {
    const auto value = parse_number(cell, rules.decimal);
    if (!value && has_other_decimal(cell, rules)) throw BadCell(line, other_decimal(cell, rules));
    if (!value && rules.label)
        throw BadCell(line,
                      "'" + printable(cell) + "' is not a number; correct it, or predict classes without --regression");
    if (!value)
        throw BadCell(line, "'" + printable(cell) +
                                "' is not a number; correct it, leave it empty if it is unknown (or name all such "
                                "words with --missing), or take the column as nominal with --nominal " +
                                numbered(rules));
    if (std::isinf(*value))
        throw BadCell(line, "'" + printable(cell) + "' is infinite in double precision; scale the column down");
    return *value;
}

void ColumnLearner::restrict_to(const std::vector<std::string>& values) {
    for (const std::string& value : values) {
        if (has(value)) throw BadCell(1, "names the class '" + printable(value) + "' twice; name each once");
        static_cast<void>(code(value, 1));
    }
    // Names that are numbers of other classes stay names.
    for (std::size_t i = 0; i < values.size(); ++i) codes_.emplace(std::to_string(i), static_cast<std::int32_t>(i));
    rules_.kind = ColumnKind::nominal;
    closed_ = true;
}

bool ColumnLearner::is_missing(std::string_view cell) const {
    const bool is_class = rules_.label && rules_.kind == ColumnKind::nominal;
    return is_class ? rules_.missing.hold_class(cell) : rules_.missing.hold(cell);
}

void ColumnLearner::add(std::string_view cell, std::int64_t line, std::vector<Number>& kept) {
    if (is_missing(cell)) {
        ++missing_;
        kept.push_back(kMissing);
    } else if (streaming_ || rules_.kind == ColumnKind::numeric) {
        kept.push_back(number_or_fail(cell, line, rules_));
        ++numbers_;
    } else {
        kept.push_back(code(cell, line));
        if (rules_.kind == ColumnKind::undecided && values_.size() > kMostCollected && texts_ == 0) make_numbers(kept);
    }
}

Number ColumnLearner::code(std::string_view cell, std::int64_t line) {
    auto known = codes_.find(cell);
    if (known == codes_.end()) {
        if (closed_ || values_.size() == kMostValues) refuse_new_value(cell, line);
        known = codes_.emplace(cell, static_cast<std::int32_t>(values_.size())).first;
        values_.push_back({&known->first, parse_number(cell, rules_.decimal).value_or(kMissing), 0, line});
        bytes_ += cell.size() + kValueBytes;
    }
    Value& value = values_[static_cast<std::size_t>(known->second)];
    ++value.count;
    ++(std::isnan(value.number) ? texts_ : numbers_);
    return static_cast<Number>(known->second);
}

void ColumnLearner::refuse_new_value(std::string_view cell, std::int64_t line) const {
    if (closed_)
        throw BadCell(line, "'" + printable(cell) + "' is no class number; the first line names " +
                                std::to_string(values_.size()) + " classes, numbered from 0");
    throw BadCell(line, rules_.label ? "more than 65,536 classes; for a number to predict use --regression"
                                     : "more than 65,536 different values; leave the column out with --ignore " +
                                           numbered(rules_));
}

bool ColumnLearner::all_recur() const {
    return !values_.empty() &&
           std::all_of(values_.begin(), values_.end(), [](const Value& value) { return value.count > 1; });
}

void ColumnLearner::settle(std::vector<Number>& kept) {
    if (rules_.kind == ColumnKind::undecided) decide();
    if (rules_.kind == ColumnKind::numeric && !streaming_ && !values_.empty()) make_numbers(kept);
}

/// Decides the type of a column that is still kept as codes.
void ColumnLearner::decide() {
    if (streaming_ || (texts_ == 0 && numbers_ > 0)) {
        rules_.kind = ColumnKind::numeric;
        return;
    }
    if (texts_ == 0) return;  // all missing
    const auto text =
        std::find_if(values_.begin(), values_.end(), [](const Value& value) { return std::isnan(value.number); });
    const bool commas = std::all_of(values_.begin(), values_.end(), [&](const Value& value) {
        return parse_number(*value.text, other(rules_.decimal)).has_value();
    });
    if (commas)
        throw BadCell(text->line, other_decimal(*text->text, rules_) +
                                      ", or take the column as nominal with --nominal " + numbered(rules_));
    if (numbers_ >= texts_) static_cast<void>(number_or_fail(*text->text, text->line, rules_));
    rules_.kind = ColumnKind::nominal;
}

/// From codes to the numbers that they stand for.
void ColumnLearner::make_numbers(std::vector<Number>& kept) {
    for (const Value& value : values_)
        if (std::isinf(value.number)) static_cast<void>(number_or_fail(*value.text, value.line, rules_));
    for (Number& entry : kept)
        if (!std::isnan(entry)) entry = values_[static_cast<std::size_t>(entry)].number;
    streaming_ = true;
    values_.clear();
    codes_.clear();
    bytes_ = 0;
}

std::vector<std::string> ColumnLearner::values() const {
    std::vector<std::string> texts;
    if (rules_.kind == ColumnKind::nominal)
        for (const Value& value : values_) texts.push_back(*value.text);
    return texts;
}

}  // namespace espalier::bench::io
