#include "harness/bench/tune/describe/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/json/bad_data.hpp"

namespace espalier::bench::tune {
namespace {

using nlohmann::json;

/// Insertions, removals and replacements that make one word of another.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row[b.size()];
}

/// `name` as a part of a JSON pointer.
std::string escaped(std::string_view name) {
    std::string text;
    for (const char c : name) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return text;
}

std::string listed(std::initializer_list<std::string_view> words) { return fmt::format("{}", fmt::join(words, ", ")); }

[[noreturn]] void refuse_at(const std::string& file, const std::string& pointer, const std::string& why) {
    throw BadData(fmt::format("{}: {}: {}", file, pointer.empty() ? "/" : pointer, why));
}

}  // namespace

void Place::refuse(const std::string& why) const { refuse_at(*file_, pointer_, why); }

void Place::expect_members(std::initializer_list<std::string_view> known) const {
    constexpr std::size_t kSlip = 2;
    for (const auto& [name, place] : members()) {
        if (std::ranges::find(known, name) != known.end()) continue;
        for (const std::string_view one : known)
            if (name.size() > kSlip && distance(name, one) <= kSlip)
                place.refuse("there is no member of this name: write '" + std::string(one) + "'");
    }
}

Place Place::member(const char* name) const {
    if (!value_->is_object()) refuse("an object is needed here: write {...}");
    if (const auto found = find(name)) return *found;
    refuse(fmt::format("the member '{}' is missing: add it", name));
}

std::optional<Place> Place::find(const char* name) const {
    if (!value_->is_object()) refuse("an object is needed here: write {...}");
    const auto found = value_->find(name);
    if (found == value_->end() || found->is_null()) return std::nullopt;
    return Place(*found, *file_, pointer_ + "/" + escaped(name));
}

std::vector<std::pair<std::string, Place>> Place::members() const {
    if (!value_->is_object()) refuse("an object is needed here: write {...}");
    std::vector<std::pair<std::string, Place>> all;
    for (const auto& [name, value] : value_->items())
        all.emplace_back(name, Place(value, *file_, pointer_ + "/" + escaped(name)));
    return all;
}

std::vector<Place> Place::items() const {
    if (!value_->is_array()) refuse("a list is needed here: write [...]");
    std::vector<Place> all;
    for (std::size_t i = 0; i < value_->size(); ++i)
        all.emplace_back((*value_)[i], *file_, fmt::format("{}/{}", pointer_, i));
    return all;
}

std::string Place::text() const {
    if (!value_->is_string()) refuse("a text is needed here: write it in quotes");
    return value_->get<std::string>();
}

std::string Place::identifier() const {
    const std::string name = text();
    const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    if (name.empty() || !std::ranges::all_of(name, fits) || std::isdigit(static_cast<unsigned char>(name[0])))
        refuse("'" + name + "' is no name of C: write letters, digits and _, a letter first");
    return name;
}

std::size_t Place::one_of(std::initializer_list<std::string_view> words) const {
    const std::string word = text();
    const auto found = std::ranges::find(words, word);
    if (found == words.end()) refuse("'" + word + "' is not known here: write one of " + listed(words));
    return static_cast<std::size_t>(found - words.begin());
}

double Place::number() const {
    if (!value_->is_number()) refuse("a number is needed here");
    return value_->get<double>();
}

std::int64_t Place::whole(std::int64_t least, std::int64_t most) const {
    if (!value_->is_number_integer() || (value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX))
        refuse(fmt::format("a whole number from {} to {} is needed here", least, most));
    const auto whole = value_->get<std::int64_t>();
    if (whole < least || whole > most) refuse(fmt::format("{} is not from {} to {}", whole, least, most));
    return whole;
}

bool Place::flag() const {
    if (value_->is_boolean()) return value_->get<bool>();
    if (!value_->is_number_integer()) refuse("true or false is needed here");
    return whole(0, 1) == 1;
}

Value Place::value() const {
    if (value_->is_boolean()) return value_->get<bool>();
    if (value_->is_number_integer()) return whole(INT64_MIN, INT64_MAX);
    if (value_->is_number()) return value_->get<double>();
    if (value_->is_string()) return value_->get<std::string>();
    refuse("a number, a text, true or false is needed here");
}

Formula Place::formula(const std::vector<std::string>& names) const {
    if (!value_->is_string() && !value_->is_number() && !value_->is_boolean())
        refuse("an expression in quotes, or a number, is needed here");
    constexpr std::size_t kLongest = 1 << 16;
    const std::string text = value_->is_string() ? value_->get<std::string>() : spelled(value());
    if (text.size() > kLongest) refuse("the expression has more than 65,536 characters: write a shorter one");
    try {
        Formula formula{Expression(text), pointer_};
        for (const std::string& name : formula.expression.asks_for()) {
            if (std::ranges::find(names, name) != names.end()) continue;
            const auto near = std::ranges::find_if(names, [&](const auto& one) { return distance(name, one) <= 2; });
            refuse(fmt::format("'{}': '{}' is no name here{}", text, name,
                               near == names.end() ? fmt::format("; known are {}", fmt::join(names, ", "))
                                                   : ": did you mean '" + *near + "'?"));
        }
        return formula;
    } catch (const BadExpression& error) {
        refuse(error.what());
    }
}

Value value_of(const Formula& formula, const Names& names, const std::filesystem::path& file) {
    try {
        return formula.expression.evaluate(names);
    } catch (const BadExpression& error) {
        refuse_at(file.string(), formula.pointer, error.what());
    }
}

std::int64_t whole_of(const Formula& formula, const Names& names, const std::filesystem::path& file, std::int64_t least,
                      std::int64_t most) {
    const Value value = value_of(formula, names, file);
    const double number = value.number();
    const auto fail = [&](const std::string& why) {
        refuse_at(file.string(), formula.pointer,
                  fmt::format("'{}' is {}: {}", formula.expression.text(), spelled(value), why));
    };
    if (!value.is_number()) fail("a number is needed here");
    if (number != std::floor(number)) fail("a whole number is needed here: write //, or ceil(...)");
    if (!(number >= static_cast<double>(least) && number <= static_cast<double>(most)))
        fail(fmt::format("a number from {} to {} is needed here", least, most));
    if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return *whole;
    return static_cast<std::int64_t>(number);
}

}  // namespace espalier::bench::tune
