#include "kernels/json/checked_json.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "kernels/core/printable.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier {
namespace {

using nlohmann::json;

/// Builds the document while the text is read, once, and stops at the first thing that is not wanted. What it has built
/// by then is in `root`, also when it throws: nothing of it is anywhere else.
class Builder final : public nlohmann::json_sax<json> {
public:
    Builder(json& root, int depth) : root_(root), depth_(static_cast<std::size_t>(depth)) {}

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override {
        return std::isfinite(value) ? add(value) : fail("a number does not fit a double");
    }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return fail("binary data"); }
    bool start_object(std::size_t) override { return open(json::object()); }
    bool key(string_t& name) override {
        const auto [place, is_new] = open_.back()->get_ref<json::object_t&>().try_emplace(std::move(name));
        member_ = &place->second;
        return is_new || fail("the key '" + printable(place->first, 40) + "' occurs twice");
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
        // The parser's message repeats the input, of which nothing should reach a terminal unfiltered.
        const bool range = error.id == 406;
        return fail((range ? "a number does not fit a double" : "not JSON in UTF-8") + std::string(", at byte ") +
                    std::to_string(position));
    }

    [[nodiscard]] const std::string& problem() const { return problem_; }

private:
    json& place(json value) {
        if (open_.empty()) return root_ = std::move(value);
        if (open_.back()->is_object()) return *member_ = std::move(value);
        return open_.back()->get_ref<json::array_t&>().emplace_back(std::move(value));
    }
    bool add(json value) {
        place(std::move(value));
        return true;
    }
    bool open(json empty) {
        // An open element does not move: nothing is added to an array while one of its elements is open.
        open_.push_back(&place(std::move(empty)));
        return open_.size() <= depth_ || fail("nested deeper than " + std::to_string(depth_));
    }
    bool close() {
        open_.pop_back();
        return true;
    }
    bool fail(std::string why) {
        if (problem_.empty()) problem_ = std::move(why);
        return false;
    }

    json& root_;
    std::size_t depth_;
    std::vector<json*> open_;
    json* member_ = nullptr;  ///< of the innermost object, the one whose name was read last
    std::string problem_;
};

/// Empties a value from its leaves on: the destructor of an empty array or object needs no memory.
void empty(json& value) {
    if (auto* const elements = value.get_ptr<json::array_t*>()) {
        for (json& element : *elements) empty(element);
        elements->clear();
    } else if (auto* const members = value.get_ptr<json::object_t*>()) {
        for (auto& [name, member] : *members) empty(member);
        members->clear();
    }
}

}  // namespace

JsonDocument::JsonDocument(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.bytes)
        throw BadData("JSON of " + std::to_string(text.size()) + " bytes is longer than " +
                      std::to_string(limits.bytes));
    try {
        Builder builder(root_, limits.depth);
        if (!json::sax_parse(text.begin(), text.end(), &builder))
            throw BadData(builder.problem().empty() ? "not JSON" : builder.problem());
    } catch (...) {
        empty(root_);  // no destructor follows
        throw;
    }
}

JsonDocument::~JsonDocument() { empty(root_); }

json parse_checked(std::string_view text, const JsonLimits& limits) { return JsonDocument(text, limits).take(); }

double finite(const json& value, const std::string& what) {
    if (!value.is_number()) throw BadData(what + " is not a number");
    const double number = value.get<double>();
    if (!std::isfinite(number)) throw BadData(what + " is not finite");
    return number;
}

Fields::Fields(const json& object, std::string what) : object_(object), what_(std::move(what)) {
    if (!object.is_object()) throw BadData(what_ + " is not a JSON object");
}

void Fields::refuse(const char* name, const std::string& why) const {
    throw BadData(what_ + ": \"" + name + "\" " + why);
}

const json& Fields::member(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end()) refuse(name, "is missing");
    ++used_;
    return *found;
}

std::string Fields::text(const char* name, std::size_t longest) {
    const json& value = member(name);
    if (!value.is_string()) refuse(name, "is not a string");
    auto result = value.get<std::string>();
    if (result.size() > longest) refuse(name, "is longer than " + std::to_string(longest) + " bytes");
    return result;
}

std::string Fields::word(const char* name, std::string_view extra, std::size_t longest) {
    auto result = text(name, longest);
    for (const char c : result)
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && extra.find(c) == std::string_view::npos)
            refuse(name, "has a character that no name has: " + printable(result, 60));
    return result;
}

double Fields::number(const char* name, double least, double most) {
    const double value = finite(member(name), what_ + ": \"" + name + "\"");
    if (!(value >= least && value <= most)) refuse(name, "is out of range");
    return value;
}

std::int64_t Fields::whole(const char* name, std::int64_t least, std::int64_t most) {
    const json& value = member(name);
    // A large unsigned would wrap to a negative number.
    if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
        refuse(name, "is not a whole number");
    const auto number = value.get<std::int64_t>();
    if (number < least || number > most) refuse(name, "is out of range");
    return number;
}

bool Fields::flag(const char* name) {
    const json& value = member(name);
    if (!value.is_boolean()) refuse(name, "is neither true nor false");
    return value.get<bool>();
}

const json& Fields::array(const char* name, std::size_t longest) {
    const json& value = member(name);
    if (!value.is_array()) refuse(name, "is not an array");
    if (value.size() > longest) refuse(name, "has more than " + std::to_string(longest) + " elements");
    return value;
}

const json& Fields::object(const char* name, std::size_t longest) {
    const json& value = member(name);
    if (!value.is_object()) refuse(name, "is not an object");
    if (value.size() > longest) refuse(name, "has more than " + std::to_string(longest) + " members");
    return value;
}

void Fields::done() const {
    if (used_ != object_.size()) throw BadData(what_ + " has members that this version does not know");
}

}  // namespace espalier
