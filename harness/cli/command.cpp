#include "harness/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <utility>

namespace espalier::bench::cli {

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
    option_->check(CLI::IsMember(values));
    return *this;
}

Option& Option::within(int least, int most) {
    option_->check(CLI::Range(least, most));
    return *this;
}

Option& Option::within(double least, double most) {
    option_->check(CLI::Range(least, most));
    return *this;
}

Option& Option::positive() {
    option_->check(CLI::PositiveNumber);
    return *this;
}

Option& Option::not_negative() {
    option_->check(CLI::NonNegativeNumber);
    return *this;
}

Option& Option::bytes(bool kb_is_1000) {
    option_->transform(CLI::AsSizeValue(kb_is_1000));
    return *this;
}

Command Command::add_subcommand(const std::string& name, const std::string& description) {
    return Command(*app_->add_subcommand(name, description));
}

template <class T>
Option Command::add_option(const std::string& names, T& value, const std::string& description) {
    return Option(*app_->add_option(names, value, description));
}

template <class T>
Option Command::add_flag(const std::string& names, T& value, const std::string& description) {
    return Option(*app_->add_flag(names, value, description));
}

void Command::footer(const std::string& text) { app_->footer(text); }

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
