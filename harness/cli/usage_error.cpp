#include "harness/cli/usage_error.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/core/similar_name.hpp"

namespace espalier::bench::cli {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

/// The command that the words belong to: the program, or the subcommand that was named.
const CLI::App& command_of(const CLI::App& program) {
    const auto named = program.get_subcommands();
    return named.empty() ? program : *named.front();
}

std::string unknown_option(const CLI::App& command, const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    SimilarName meant(name);
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_positional()) continue;
        for (const std::string& known : option->get_lnames()) meant.offer("--" + known);
        for (const std::string& known : option->get_snames()) meant.offer("-" + known);
    }
    return "there is no option " + name + meant.question();
}

std::string unknown_command(const CLI::App& program, const std::string& word) {
    SimilarName meant(word);
    for (const CLI::App* command : program.get_subcommands({}))
        if (!command->get_group().empty()) meant.offer(command->get_name());
    return "there is no command '" + word + "'" + meant.question();
}

/// The two options of a command that were given although they exclude each other: the error itself keeps their names
/// in a sentence only.
std::string exclusion(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options())
        for (const CLI::Option* other : option->get_excludes())
            if (option->count() && other->count())
                return option->get_name() + " and " + other->get_name() + " exclude each other: give one of them";
    return {};
}

/// What the parser had no use for explains best what is wrong: an option that is missing may be misspelt.
std::string problem(const CLI::App& program, const CLI::App& command, const CLI::ParseError& error) {
    const std::vector<std::string> extras = command.remaining();
    const bool no_command = &command == &program && !extras.empty() && !is_option(extras.front());
    const auto option = no_command ? extras.end() : std::ranges::find_if(extras, is_option);
    if (option != extras.end()) return unknown_option(command, *option);
    const auto word = std::ranges::find_if(extras, [](const std::string& text) { return text != "--"; });
    if (word != extras.end())
        return &command == &program ? unknown_command(program, *word) : "there is one word too many: '" + *word + "'";
    if (&command == &program && dynamic_cast<const CLI::RequiredError*>(&error)) return "name a command";
    if (dynamic_cast<const CLI::ExcludesError*>(&error)) return exclusion(command);
    if (dynamic_cast<const CLI::ConversionError*>(&error))  // of flags: add_number has looked at numbers before
        return std::string(error.what()) + ": leave out the value";
    return error.what();
}

}  // namespace

bool names_no_command(const CLI::App& program) {
    const std::vector<std::string> extras = program.remaining();
    return &command_of(program) == &program && std::ranges::any_of(extras, std::not_fn(is_option));
}

std::string describe_usage_error(const CLI::App& program, const CLI::ParseError& error) {
    const CLI::App& command = command_of(program);
    const std::string name = &command == &program ? program.get_name() : program.get_name() + " " + command.get_name();
    const std::string shown = &command == &program ? "the commands and the exit codes" : "its options";
    return name + ": " + problem(program, command, error) + "\n" + name + " --help shows " + shown;
}

}  // namespace espalier::bench::cli
