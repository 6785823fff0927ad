#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/tune/describe/description.hpp"

namespace espalier::bench::tune {

/// A value of a JSON file with where it stands. Every failure is a `BadData` that names the file and the place.
class Place {
public:
    Place(const nlohmann::json& value, const std::string& file, std::string pointer = {})
        : value_(&value), file_(&file), pointer_(std::move(pointer)) {}

    [[nodiscard]] const std::string& pointer() const { return pointer_; }
    [[noreturn]] void refuse(const std::string& why) const;

    // Of an object.

    /// Refuses members whose names are nearly, but not quite, among `known`.
    void expect_members(std::initializer_list<std::string_view> known) const;
    [[nodiscard]] Place member(const char* name) const;
    [[nodiscard]] std::optional<Place> find(const char* name) const;
    [[nodiscard]] std::vector<std::pair<std::string, Place>> members() const;

    // Of the value itself.

    [[nodiscard]] bool is_text() const { return value_->is_string(); }
    [[nodiscard]] bool is_list() const { return value_->is_array(); }
    [[nodiscard]] bool is_object() const { return value_->is_object(); }
    [[nodiscard]] std::vector<Place> items() const;
    [[nodiscard]] std::string text() const;
    /// A name that C can have.
    [[nodiscard]] std::string identifier() const;
    /// One of these words, by its place among them.
    [[nodiscard]] std::size_t one_of(std::initializer_list<std::string_view> words) const;
    [[nodiscard]] double number() const;
    [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most) const;
    /// True, false, 0 or 1.
    [[nodiscard]] bool flag() const;
    /// A number, truth or text as it stands.
    [[nodiscard]] Value value() const;
    /// The expression that a text holds, or a number; it may ask for `names` alone.
    [[nodiscard]] Formula formula(const std::vector<std::string>& names) const;

private:
    const nlohmann::json* value_;
    const std::string* file_;
    std::string pointer_;
};

/// The value of a formula. Throws `BadData`, which names the place, if it has none.
Value value_of(const Formula& formula, const Names& names, const std::filesystem::path& file);

/// The same of a whole number, also of a real one without a fraction, between `least` and `most`.
std::int64_t whole_of(const Formula& formula, const Names& names, const std::filesystem::path& file, std::int64_t least,
                      std::int64_t most);

}  // namespace espalier::bench::tune
