// `espalier completion`: a shell's completion, from the options as the commands describe them.

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "harness/base/text/to_stdout.hpp"
#include "harness/cli/command.hpp"

namespace espalier::bench::cli {
namespace {

std::vector<const CLI::App*> shown_commands(const CLI::App& program) {
    return program.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> named_options(const CLI::App& command) {
    return command.get_options(
        [](const CLI::Option* option) { return !option->get_group().empty() && !option->get_positional(); });
}

/// "TEXT:{auto,cosine}" (one_of) -> "auto cosine"; empty if anything may be given.
std::string values_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const auto open = type.find('{'), close = type.find('}');
    if (open == std::string::npos || close == std::string::npos) return {};
    return CLI::detail::join(CLI::detail::split(type.substr(open + 1, close - open - 1), ','), " ");
}

/// All that begins with dashes, of one command.
std::string option_words(const CLI::App& command) {
    std::string words;
    for (const CLI::Option* option : named_options(command)) {
        for (const std::string& name : option->get_snames()) words += " -" + name;
        for (const std::string& name : option->get_lnames()) words += " --" + name;
    }
    return words;
}

/// A case per option of which the values are known.
std::string value_cases(const CLI::App& command) {
    std::string cases;
    for (const CLI::Option* option : named_options(command))
        if (const std::string values = values_of(*option); !values.empty())
            for (const std::string& name : option->get_lnames())
                cases += fmt::format("        {}/--{}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
                                     command.get_name(), name, values);
    return cases;
}

/// Completion of commands, options and the values that an option may have. Other words are files.
std::string bash_completion(const CLI::App& program) {
    std::string values, names, options = fmt::format("        '') words=\"{}\" ;;\n", option_words(program));
    for (const CLI::App* command : shown_commands(program)) {
        names += " " + command->get_name();
        values += value_cases(*command);
        options += fmt::format("        {}) words=\"{}\" ;;\n", command->get_name(), option_words(*command));
    }
    return fmt::format(R"(# Completion of {0}, made of its own description of its options: {0} completion bash
_{0}() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command='' words='' i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${{COMP_WORDS[i]}}" in -*) ;; *) command="${{COMP_WORDS[i]}}"; break ;; esac
    done
    case "$command/$before" in
{1}    esac
    case "$command" in
{2}    esac
    case "$word" in
        -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
        *) if [ -z "$command" ]; then COMPREPLY=($(compgen -W "{3}" -- "$word"))
           else COMPREPLY=($(compgen -f -- "$word")); fi ;;
    esac
}}
complete -o filenames -F _{0} {0}
)",
                       program.get_name(), values, options, names);
}

}  // namespace

void add_completion(CLI::App& program, ExitCode&) {
    const auto shell = std::make_shared<std::string>();
    CLI::App& command = *program.add_subcommand("completion", "Prints a script that completes commands and options");
    command.add_option("shell", *shell, "for which shell")->check(one_of({"bash", "zsh"}))->required();
    set_footer(command, "For example: source <(espalier completion bash)");
    command.callback([&program, shell] {
        // zsh emulates bash's.
        const std::string head = "#compdef " + program.get_name() + "\nautoload -U +X bashcompinit && bashcompinit\n";
        to_stdout("{}{}", *shell == "zsh" ? head : "", bash_completion(program));
    });
}

}  // namespace espalier::bench::cli
