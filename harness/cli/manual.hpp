#pragma once

#include <string>

namespace CLI {
class App;
}

namespace espalier::bench::cli {

/// What the command line says of itself, in the forms that other programs read. All of it comes from the options as the
/// commands describe them.

/// A manual page of section 1 (man(7) macros): of the program, or of one of its commands.
std::string man_page(const CLI::App& program, const CLI::App& command);

/// Completion of commands, options and the values that an option may have. Other words are files.
std::string bash_completion(const CLI::App& program);
/// Completion for zsh, by way of its emulation of bash's.
std::string zsh_completion(const CLI::App& program);

/// Adds `completion SHELL`, which prints one, and `manual FOLDER`, which writes all manual pages and is hidden.
void add_manual(CLI::App& program);

}  // namespace espalier::bench::cli
