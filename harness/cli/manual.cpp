#include "harness/cli/manual.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <vector>

#include "harness/bench/records/atomic_file.hpp"
#include "harness/cli/command.hpp"

namespace espalier::bench::cli {
namespace {

std::vector<const CLI::App*> shown_commands(const CLI::App& program) {
    return program.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> shown_options(const CLI::App& command, bool positional) {
    return command.get_options([=](const CLI::Option* option) {
        return !option->get_group().empty() && option->get_positional() == positional;
    });
}

/// "{auto,cosine}" in what the help calls the value -> auto and cosine; empty if anything may be given.
std::vector<std::string> values_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const auto open = type.find('{'), close = type.find('}');
    if (open == std::string::npos || close == std::string::npos) return {};
    return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

// --- manual pages ---

/// Text that roff takes as text: no escapes, no requests at the start of a line, hyphens that can be copied.
std::string roff(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        const bool line_start = escaped.empty() || escaped.back() == '\n';
        if (line_start && (c == '.' || c == '\'')) escaped += "\\&";
        if (c == '\\')
            escaped += "\\e";
        else if (c == '-')
            escaped += "\\-";
        else
            escaped += c;
    }
    return escaped;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

/// ".TP" and its two parts: the option with its value, and what it does.
std::string roff_option(const CLI::Option& option) {
    std::string head =
        "\\fB" + roff(option.get_positional() ? option.get_name(true) : option.get_name(false, true)) + "\\fR";
    if (const auto values = values_of(option); !values.empty())
        head += " " + roff(fmt::format("{}", fmt::join(values, "|")));
    else if (option.get_type_size() != 0 && !option.get_positional())
        head += " \\fI" + roff(option.get_type_name()) + "\\fR";
    std::string text = ".TP\n" + head + "\n" + roff(option.get_description());
    if (!option.get_default_str().empty()) text += roff(" (default: " + option.get_default_str() + ")");
    if (!option.get_envname().empty()) text += roff("; the environment variable " + option.get_envname() + " sets it");
    return text + "\n";
}

std::string roff_options(const CLI::App& command) {
    std::string text;
    for (const bool positional : {true, false})
        for (const CLI::Option* option : shown_options(command, positional)) text += roff_option(*option);
    return text;
}

std::string roff_footer(const std::string& footer) {
    const auto codes = footer.find(kExitCodes);
    std::string text;
    if (codes != 0 && codes != std::string::npos) text += ".SH NOTES\n" + roff(footer.substr(0, codes)) + "\n";
    return text + ".SH EXIT STATUS\n" + roff(kExitCodes) + "\n";
}

// --- completion ---

/// All that begins with dashes, of one command.
std::string option_words(const CLI::App& command) {
    std::vector<std::string> words;
    for (const CLI::Option* option : shown_options(command, false)) {
        for (const std::string& name : option->get_snames()) words.push_back("-" + name);
        for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    }
    return fmt::format("{}", fmt::join(words, " "));
}

std::string command_words(const CLI::App& program) {
    std::vector<std::string> words;
    for (const CLI::App* command : shown_commands(program)) words.push_back(command->get_name());
    return fmt::format("{}", fmt::join(words, " "));
}

/// A case per option of which the values are known.
std::string value_cases(const CLI::App& command) {
    std::string cases;
    for (const CLI::Option* option : shown_options(command, false)) {
        const auto values = values_of(*option);
        if (values.empty()) continue;
        for (const std::string& name : option->get_lnames())
            cases += fmt::format("        {}/--{}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
                                 command.get_name(), name, fmt::join(values, " "));
    }
    return cases;
}

}  // namespace

std::string man_page(const CLI::App& program, const CLI::App& command) {
    const bool whole = &program == &command;
    const std::string name = whole ? program.get_name() : program.get_name() + "-" + command.get_name();
    const std::string usage = whole ? program.get_name() : program.get_name() + " " + command.get_name();
    std::string text =
        fmt::format(".TH {} 1 \"\" \"{} {}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n", upper(roff(name)),
                    program.get_name(), program.version(), roff(name), roff(command.get_description()), roff(usage));
    for (const CLI::Option* option : shown_options(command, true))
        text += (option->get_required() ? "\\fI" : "[\\fI") + roff(option->get_name(true)) +
                (option->get_required() ? "\\fR\n" : "\\fR]\n");
    text += whole ? "\\fIcommand\\fR [\\fIoption\\fR]...\n" : "[\\fIoption\\fR]...\n";
    if (whole) {
        text += ".SH COMMANDS\n";
        for (const CLI::App* one : shown_commands(program))
            text += fmt::format(".TP\n.BR {}\\-{} (1)\n{}\n", roff(program.get_name()), roff(one->get_name()),
                                roff(one->get_description()));
    }
    return text + ".SH OPTIONS\n" + roff_options(command) + roff_footer(command.get_footer());
}

std::string bash_completion(const CLI::App& program) {
    std::string values, options = fmt::format("        '') words=\"{}\" ;;\n", option_words(program));
    for (const CLI::App* command : shown_commands(program)) {
        values += value_cases(*command);
        options += fmt::format("        {}) words=\"{}\" ;;\n", command->get_name(), option_words(*command));
    }
    const std::string name = program.get_name();
    return fmt::format(
        "# Completion of {0}, made of its own description of its options: {0} completion bash\n"
        "_{0}() {{\n"
        "    local word=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\" command='' words='' "
        "i\n"
        "    COMPREPLY=()\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        case \"${{COMP_WORDS[i]}}\" in -*) ;; *) command=\"${{COMP_WORDS[i]}}\"; break ;; esac\n"
        "    done\n"
        "    case \"$command/$before\" in\n{1}    esac\n"
        "    case \"$command\" in\n{2}    esac\n"
        "    case \"$word\" in\n"
        "        -*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
        "        *) if [ -z \"$command\" ]; then COMPREPLY=($(compgen -W \"{3}\" -- \"$word\"))\n"
        "           else COMPREPLY=($(compgen -f -- \"$word\")); fi ;;\n"
        "    esac\n"
        "}}\n"
        "complete -o filenames -F _{0} {0}\n",
        name, values, options, command_words(program));
}

std::string zsh_completion(const CLI::App& program) {
    return fmt::format("#compdef {}\nautoload -U +X bashcompinit && bashcompinit\n{}", program.get_name(),
                       bash_completion(program));
}

void add_manual(CLI::App& program) {
    const auto shell = std::make_shared<std::string>(), folder = std::make_shared<std::string>();
    Command completion =
        Command(program).add_subcommand("completion", "Prints a script that completes commands and options");
    completion.add_option("shell", *shell, "for which shell").one_of({"bash", "zsh"}).required();
    completion.footer("For example: source <(espalier completion bash)");
    completion.callback(
        [&program, shell] { fmt::print("{}", *shell == "zsh" ? zsh_completion(program) : bash_completion(program)); });
    Command manual = Command(program).add_subcommand("manual", "writes the manual pages");
    manual.hide();
    manual.add_option("folder", *folder).required();
    manual.callback([&program, folder] {
        const std::filesystem::path place(*folder);
        write_file_atomically(place / (program.get_name() + ".1"), man_page(program, program));
        for (const CLI::App* command : shown_commands(program))
            write_file_atomically(place / (program.get_name() + "-" + command->get_name() + ".1"),
                                  man_page(program, *command));
    });
}

}  // namespace espalier::bench::cli
