#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace espalier {

/// Limits of what `parse_checked` takes: nothing that this project writes comes near them.
struct JsonLimits {
    std::size_t bytes = std::size_t{16} << 20;
    int depth = 8;
};

/// Parses JSON that somebody else may have written. Refuses, with a `BadData` that says where: text beyond
/// the limits, duplicate keys (the parser alone would take the last), numbers outside of double, anything
/// that is not UTF-8, trailing text. The nesting is checked before any tree is built, because destroying
/// or printing a deep one overflows the stack.
nlohmann::json parse_checked(std::string_view text, const JsonLimits& limits = {});

/// The result of `parse_checked`, where memory may have run out: nlohmann's values allocate in their destructor, which
/// then ends the program, this one does not. Read it where it is, a copy is one of nlohmann's again.
class JsonDocument {
public:
    JsonDocument(std::string_view text, const JsonLimits& limits);
    ~JsonDocument();
    JsonDocument(const JsonDocument&) = delete;
    JsonDocument& operator=(const JsonDocument&) = delete;

    [[nodiscard]] const nlohmann::json& root() const { return root_; }
    [[nodiscard]] nlohmann::json take() { return std::move(root_); }

private:
    nlohmann::json root_;
};

/// Reads the members of one JSON object and insists on types and ranges; every failure is a `BadData`
/// that names the member. `done()` refuses members that nobody asked for.
class Fields {
public:
    Fields(const nlohmann::json& object, std::string what);

    [[nodiscard]] std::string text(const char* name, std::size_t longest = 256);
    /// Lower-case letters, digits and the characters of `extra`; what names and keys are made of.
    [[nodiscard]] std::string word(const char* name, std::string_view extra = "_", std::size_t longest = 256);
    [[nodiscard]] double number(const char* name, double least, double most);
    [[nodiscard]] double amount(const char* name) { return number(name, 0, 1e300); }
    [[nodiscard]] std::int64_t whole(const char* name, std::int64_t least = 0, std::int64_t most = INT64_MAX);
    [[nodiscard]] bool flag(const char* name);
    [[nodiscard]] const nlohmann::json& array(const char* name, std::size_t longest);
    [[nodiscard]] const nlohmann::json& object(const char* name, std::size_t longest);
    /// Whether a member that may be left out is there; reading it is another call.
    [[nodiscard]] bool has(const char* name) const { return object_.contains(name); }
    void done() const;

    [[noreturn]] void refuse(const char* name, const std::string& why) const;

private:
    const nlohmann::json& member(const char* name);

    const nlohmann::json& object_;
    std::string what_;
    std::size_t used_ = 0;
};

/// A finite double; anything else is a `BadData` about `what`.
double finite(const nlohmann::json& value, const std::string& what);

}  // namespace espalier
