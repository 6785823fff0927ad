#include "harness/base/text/csv_field.hpp"

#include <charconv>

#include "harness/base/text/printable.hpp"

namespace espalier::bench {
namespace {

bool is_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
}

/// A sign alone does nothing.
bool is_formula(std::string_view text) {
    return text.size() > 1 && std::string_view("=+-@").find(text.front()) != std::string_view::npos && !is_number(text);
}

}  // namespace

std::string csv_field(std::string_view text) {
    std::string inert = printable(text, std::string::npos);
    if (is_formula(inert)) inert.insert(0, 1, '\'');
    if (inert.find_first_of("\",") == std::string::npos) return inert;
    std::string quoted = "\"";
    for (const char c : inert) quoted.append(c == '"' ? 2 : 1, c);
    return quoted + '"';
}

}  // namespace espalier::bench
