#include "harness/apps/tables/column_learner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace espalier::bench::io {
namespace {

/// A column with more values than this is a key or free text, not a nominal attribute, and would let the
/// memory grow with the file.
constexpr std::size_t kMostValues = 65536;

/// What a text and its places in the two tables of a column take, about.
constexpr std::size_t kValueBytes = 128;

constexpr Number kMissing = std::numeric_limits<Number>::quiet_NaN();

/// A text's code as a NaN, whose low bits are free. `kMissing` is the code -1.
constexpr std::uint64_t kQuietNaN = 0x7FF8'0000'0000'0000;

Number boxed(std::int32_t code) { return std::bit_cast<Number>(kQuietNaN | (static_cast<std::uint64_t>(code) + 1)); }

std::int32_t unboxed(Number kept) {
    return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(kept) & 0xFFFF'FFFF) - 1;
}

std::string numbered(const ColumnRules& rules) { return std::to_string(rules.position + 1); }

/// The end of a message about a text among numbers.
[[noreturn]] void refuse_text(std::string_view cell, std::int64_t line, const ColumnRules& rules) {
    const std::string shown = "'" + printable(cell) + "'";
    const std::string option = rules.amounts ? "" : option_for_numbers({cell}, rules.format, rules.position + 1);
    const bool separators = !option.empty() && is_number_elsewhere(cell, rules.format);
    const std::string problem = separators ? shown + " is no number with a decimal " +
                                                 (rules.format.decimal == '.' ? "point" : "comma") +
                                                 (rules.format.thousands == 0 ? " and without groups of digits" : "")
                                           : shown + " is not a number";
    const std::string offer = option.empty() ? "" : "; say " + option + " to read it as one";
    if (rules.label)
        throw BadCell(line, problem + offer + "; " + (offer.empty() ? "" : "else ") +
                                "correct it, or predict classes without --regression");
    throw BadCell(line, problem + offer + "; " + (offer.empty() ? "" : "else ") +
                            "correct it, leave it empty if it is unknown (or name all such words with --missing), or "
                            "take the column as nominal with --nominal " +
                            numbered(rules));
}

[[noreturn]] void refuse_infinite(std::string_view cell, std::int64_t line) {
    throw BadCell(line, "'" + printable(cell) +
                            "' is infinite in double precision; scale the column down, or name the word with --missing "
                            "if it stands for an unknown value");
}

void check_unit(std::string_view cell, std::int64_t line, const Unit& found, std::optional<Unit>& unit) {
    if (!unit) unit = found;
    if (*unit == found) return;
    throw BadCell(line, "'" + printable(cell) + "' is " + in_words(found) + ", and the column's first cell is " +
                            in_words(*unit) + "; write all cells of a column in one unit");
}

}  // namespace

Number number_or_fail(std::string_view cell, std::int64_t line, const ColumnRules& rules, std::optional<Unit>& unit) {
    std::optional<Number> value;
    if (!rules.amounts) {
        value = parse_number(cell, rules.format);
    } else if (const auto amount = parse_amount(cell, rules.format)) {
        check_unit(cell, line, amount->unit, unit);
        value = amount->value;
    }
    if (!value) refuse_text(cell, line, rules);
    if (std::isinf(*value)) refuse_infinite(cell, line);
    return *value;
}

void ColumnLearner::restrict_to(const std::vector<std::string>& values) {
    std::string scratch;
    for (const std::string& value : values) {
        if (codes_.find(name_of(value, rules_.format, scratch)) != codes_.end())
            throw BadCell(1, "names the class '" + printable(value) + "' twice; name each once");
        static_cast<void>(code(value, 1));
    }
    // Names that are numbers of other classes stay names.
    for (std::size_t i = 0; i < values.size(); ++i) codes_.emplace(std::to_string(i), static_cast<std::int32_t>(i));
    rules_.kind = ColumnKind::nominal;
    closed_ = true;
}

bool ColumnLearner::is_missing(std::string_view cell) const {
    const bool is_class = rules_.label && rules_.kind == ColumnKind::nominal;
    return is_class ? rules_.missing->hold_class(cell) : rules_.missing->hold(cell);
}

Number ColumnLearner::add(std::string_view cell, std::int64_t line) {
    if (is_missing(cell)) {
        ++missing_;
        return kMissing;
    }
    if (rules_.kind == ColumnKind::undecided) return number(cell, line);
    if (rules_.kind == ColumnKind::numeric) {
        const Number value = number_or_fail(cell, line, rules_, unit_);
        ++numbers_;
        return value;
    }
    const Number known = code(cell, line);
    ++(values_[static_cast<std::size_t>(known)].number ? numbers_ : texts_);
    return known;
}

bool ColumnLearner::is_name(Number kept) const { return rules_.kind == ColumnKind::nominal || std::isnan(kept); }

void ColumnLearner::add_again(Number kept, std::int64_t times) {
    std::int32_t code = -1;
    if (!std::isnan(kept)) {
        if (rules_.kind != ColumnKind::nominal) {
            numbers_ += times;
            return;
        }
        code = static_cast<std::int32_t>(kept);
    } else if (rules_.kind == ColumnKind::undecided) {
        code = unboxed(kept);
    }
    if (code < 0) {
        missing_ += times;
        return;
    }
    Value& value = values_[static_cast<std::size_t>(code)];
    value.count += times;
    (value.number ? numbers_ : texts_) += times;
}

/// Of a cell whose column is undecided: its number, or its code as a NaN.
Number ColumnLearner::number(std::string_view cell, std::int64_t line) {
    const auto value = parse_number(cell, rules_.format);
    if (!value || std::isinf(*value)) {
        const auto known = static_cast<std::int32_t>(code(cell, line));
        ++(value ? numbers_ : texts_);
        return boxed(known);
    }
    ++numbers_;
    if (unspelled_line_ == 0 && !is_spelled_by_its_value(cell)) {
        unspelled_ = cell;
        unspelled_line_ = line;
    }
    return *value;
}

Number ColumnLearner::code(std::string_view cell, std::int64_t line) {
    std::string scratch;
    const std::string_view name = name_of(cell, rules_.format, scratch);
    auto known = codes_.find(name);
    if (known == codes_.end()) {
        if (closed_ || values_.size() == kMostValues) refuse_new_value(cell, line);
        known = codes_.emplace(name, static_cast<std::int32_t>(values_.size())).first;
        values_.push_back({std::string(cell), 0, line, parse_number(cell, rules_.format).has_value()});
        bytes_ += cell.size() + kValueBytes;
    }
    ++values_[static_cast<std::size_t>(known->second)].count;
    return static_cast<Number>(known->second);
}

void ColumnLearner::refuse_new_value(std::string_view cell, std::int64_t line) const {
    if (closed_)
        throw BadCell(line, "'" + printable(cell) + "' is no class number; the first line names " +
                                std::to_string(values_.size()) + " classes, numbered from 0");
    throw BadCell(line, rules_.label ? "more than 65,536 classes; for a number to predict use --regression"
                                     : "more than 65,536 different values; leave the column out with --ignore " +
                                           numbered(rules_) + ", or read amounts and dates as numbers with --numeric " +
                                           numbered(rules_));
}

bool ColumnLearner::is_number(std::string_view cell) const {
    return rules_.amounts ? parse_amount(cell, rules_.format).has_value()
                          : parse_number(cell, rules_.format).has_value();
}

bool ColumnLearner::has(std::string_view cell, const KeptCells& kept) const {
    std::string scratch;
    if (codes_.find(name_of(cell, rules_.format, scratch)) != codes_.end()) return true;
    const auto value = parse_number(cell, rules_.format);
    if (!value || rules_.kind == ColumnKind::nominal) return false;
    const std::vector<Number> numbers = kept();
    return std::find(numbers.begin(), numbers.end(), *value) != numbers.end();
}

bool ColumnLearner::all_recur(const KeptCells& kept) const {
    const auto recurs = [](const Value& value) { return value.count > 1; };
    if (!std::all_of(values_.begin(), values_.end(), recurs)) return false;
    if (rules_.kind == ColumnKind::nominal || numbers_ == 0) return !values_.empty();
    std::vector<Number> numbers = kept();
    std::erase_if(numbers, [](Number number) { return std::isnan(number); });
    std::sort(numbers.begin(), numbers.end());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const bool as_before = i > 0 && numbers[i - 1] == numbers[i];
        const bool as_behind = i + 1 < numbers.size() && numbers[i + 1] == numbers[i];
        if (!as_before && !as_behind) return false;
    }
    return true;
}

std::optional<Unit> ColumnLearner::unit() const {
    return rules_.amounts ? std::optional(unit_.value_or(Unit{})) : std::nullopt;
}

void ColumnLearner::settle(std::span<Number> kept) {
    if (rules_.kind != ColumnKind::undecided) {
        if (numbers_ == 0 && rules_.kind == ColumnKind::numeric) rules_.kind = ColumnKind::undecided;
        return;
    }
    decide();
    if (rules_.kind != ColumnKind::nominal) return;
    make_codes(kept);
    refuse_different_texts();
}

void ColumnLearner::decide() {
    if (texts_ == 0 && numbers_ == 0) return;  // all missing
    for (const Value& value : values_)
        if (texts_ == 0 && value.number) refuse_infinite(value.text, value.line);
    rules_.kind = ColumnKind::numeric;
    if (texts_ == 0) return;
    refuse_amounts();
    const auto text = std::find_if(values_.begin(), values_.end(), [](const Value& value) { return !value.number; });
    if (numbers_ >= texts_) refuse_text(text->text, text->line, rules_);
    if (unspelled_line_ > 0)
        throw BadCell(unspelled_line_, "'" + printable(unspelled_) +
                                           "' is a number, and most of the column are texts; take the column as "
                                           "nominal with --nominal " +
                                           numbered(rules_) + ", which keeps it as it is written");
    rules_.kind = ColumnKind::nominal;
}

/// A column whose texts are numbers in a way that the options do not allow for is not nominal in silence.
void ColumnLearner::refuse_amounts() const {
    std::int64_t amounts = 0, others = 0;
    const Value* first = nullptr;
    std::vector<std::string_view> texts;
    for (const Value& value : values_) {
        if (value.number) continue;
        texts.push_back(value.text);
        const bool amount =
            is_number_elsewhere(value.text, rules_.format) || is_surely_amount(value.text, rules_.format);
        (amount ? amounts : others) += value.count;
        if (amount && first == nullptr) first = &value;
    }
    if (first == nullptr || numbers_ + amounts < others) return;
    std::string option = option_for_numbers(texts, rules_.format, rules_.position + 1);
    if (option.empty()) option = option_for_numbers({first->text}, rules_.format, rules_.position + 1);
    throw BadCell(first->line, "'" + printable(first->text) + "' is an amount or a date, but no plain number; " +
                                   (option.empty() ? "write it as 2024-12-31 and say --numeric " + numbered(rules_)
                                                   : "say " + option) +
                                   " to read the column as numbers, --nominal " + numbered(rules_) +
                                   " to compare it as text, or --ignore " + numbered(rules_) + " to leave it out");
}

/// Texts that are nearly all different equal nothing: as a nominal attribute they only add noise.
void ColumnLearner::refuse_different_texts() const {
    constexpr std::int64_t kFewest = 10;  // in a smaller table every column may be so
    const auto different = static_cast<std::int64_t>(values_.size());
    const std::int64_t known = numbers_ + texts_;
    if (known < kFewest || 10 * different <= 9 * known) return;
    const std::string number = numbered(rules_);
    throw BadCell(values_.front().line, "the column holds texts that are nearly all different (" +
                                            std::to_string(different) + " in " + std::to_string(known) + " cells, '" +
                                            printable(values_.front().text) +
                                            "' among them); leave it out with --ignore " + number +
                                            ", read numbers with a unit as numbers " + "with --numeric " + number +
                                            ", or compare it for equality all the same with --nominal " + number);
}

/// From numbers and boxed codes to codes, by the first row that has a value.
void ColumnLearner::make_codes(std::span<Number> kept) {
    std::vector<std::int32_t> of_text(values_.size(), -1);
    std::unordered_map<std::uint64_t, std::int32_t> of_number;
    std::vector<Value> in_order;
    const auto next = [&](Value value) {
        if (in_order.size() == kMostValues) refuse_new_value(value.text, value.line);
        in_order.push_back(std::move(value));
        return static_cast<std::int32_t>(in_order.size() - 1);
    };
    for (Number& entry : kept) {
        if (!std::isnan(entry)) {
            const auto [known, is_new] = of_number.try_emplace(std::bit_cast<std::uint64_t>(entry + 0.0), 0);
            if (is_new) known->second = next({shortest(entry + 0.0), 0, values_.front().line, true});
            entry = known->second;
        } else if (const std::int32_t text = unboxed(entry); text >= 0) {
            auto& code = of_text[static_cast<std::size_t>(text)];
            if (code < 0) code = next(std::move(values_[static_cast<std::size_t>(text)]));
            entry = code;
        }
    }
    values_ = std::move(in_order);
}

std::vector<std::string> ColumnLearner::values() const {
    std::vector<std::string> texts;
    if (rules_.kind == ColumnKind::nominal)
        for (const Value& value : values_) texts.push_back(value.text);
    return texts;
}

}  // namespace espalier::bench::io
