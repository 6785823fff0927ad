#include "harness/cli/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "harness/cli/parse.hpp"
#include "kernels/core/similar_name.hpp"

namespace espalier::bench::cli {
namespace {

/// CLI11 puts the option's name before what a check returns; nothing means that the value passes.
using Check = std::function<std::string(const std::string&)>;

void check(CLI::Option& option, Check passes, const std::string& in_help = {}) {
    option.check(CLI::Validator([passes = std::move(passes)](std::string& value) { return passes(value); }, in_help));
}

/// What a type cannot hold is refused in words of the user's: a conversion's own error says less, and takes -1 for the
/// largest number without a sign.
template <class T>
void check_type(CLI::Option& option) {
    if constexpr (std::same_as<T, int> || std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>)
        check(option, [](const std::string& text) -> std::string {
            if (is_whole<T>(text)) return {};
            return fmt::format("'{}' is not a whole number{}", text,
                               std::unsigned_integral<T> ? " from 0 on, or is too large" : ", or is too large");
        });
    if constexpr (std::same_as<T, double>)
        check(option, [](const std::string& text) -> std::string {
            return std::isfinite(number_in(text)) ? "" : "'" + text + "' is not a finite number";
        });
}

/// `least <= value <= most` in words; `above` leaves out `least` itself.
template <class T>
void check_range(CLI::Option& option, T least, T most) {
    check(
        option,
        [least, most](const std::string& text) -> std::string {
            const double value = number_in(text);
            const bool inside = value >= static_cast<double>(least) && value <= static_cast<double>(most);
            return inside ? "" : fmt::format("must be {} to {}, not {}", least, most, text);
        },
        fmt::format("in [{}, {}]", least, most));
}

}  // namespace

Option& Option::required() {
    option_->required();
    return *this;
}

Option& Option::capture_default_str() {
    option_->capture_default_str();
    return *this;
}

Option& Option::delimiter(char separator) {
    option_->delimiter(separator);
    return *this;
}

Option& Option::type_name(const std::string& name) {
    option_->type_name(name);
    return *this;
}

Option& Option::allow_extra_args(bool allow) {
    option_->allow_extra_args(allow);
    return *this;
}

Option& Option::excludes(const Option& other) {
    option_->excludes(other.option_);
    return *this;
}

Option& Option::from_environment(const std::string& variable) {
    option_->envname(variable);
    return *this;
}

Option& Option::one_of(const std::vector<std::string>& values) {
    check(
        *option_,
        [values](const std::string& text) -> std::string {
            SimilarName meant(text);
            for (const std::string& value : values) {
                if (value == text) return {};
                meant.offer(value);
            }
            return fmt::format("'{}' is none of {}{}", text, fmt::join(values, ", "), meant.question());
        },
        fmt::format("{{{}}}", fmt::join(values, ",")));
    return *this;
}

Option& Option::within(int least, int most) {
    check_range(*option_, least, most);
    return *this;
}

Option& Option::within(double least, double most) {
    check_range(*option_, least, most);
    return *this;
}

Option& Option::positive() {
    check(*option_,
          [](const std::string& text) { return number_in(text) > 0 ? "" : "must be more than 0, not " + text; });
    return *this;
}

Option& Option::not_negative() {
    check(*option_,
          [](const std::string& text) { return number_in(text) >= 0 ? "" : "must not be negative: " + text; });
    return *this;
}

Option& Option::bytes() {
    option_->type_name("SIZE");
    option_->transform(CLI::Validator(
        [](std::string& text) -> std::string {
            const auto bytes = bytes_in(text);
            if (!bytes) return "'" + text + "' is no size such as 500MB (of 1000) or 2GiB (of 1024), from 1 byte on";
            text = std::to_string(*bytes);
            return {};
        },
        ""));
    return *this;
}

Command Command::add_subcommand(const std::string& name, const std::string& description) {
    CLI::App* const command = app_->add_subcommand(name, description);
    command->footer(kExitCodes);
    return Command(*command);
}

template <class T>
Option Command::add_option(const std::string& names, T& value, const std::string& description) {
    CLI::Option* const option = app_->add_option(names, value, description);
    check_type<T>(*option);
    return Option(*option);
}

template <class T>
Option Command::add_flag(const std::string& names, T& value, const std::string& description) {
    return Option(*app_->add_flag(names, value, description));
}

void Command::footer(const std::string& text) { app_->footer(text + "\n" + kExitCodes); }

void Command::callback(std::function<void()> function) { app_->callback(std::move(function)); }

void Command::hide() { app_->group(""); }

template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::add_option(const std::string&, std::filesystem::path&, const std::string&);
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, std::int64_t&, const std::string&);
template Option Command::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_flag(const std::string&, bool&, const std::string&);
template Option Command::add_flag(const std::string&, std::string&, const std::string&);

}  // namespace espalier::bench::cli
