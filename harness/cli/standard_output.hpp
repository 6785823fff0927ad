#pragma once

#include <optional>
#include <string>

namespace espalier::bench::cli {

/// Takes the descriptors 0, 1 and 2 if the caller closed them: a file that is opened later must not become the
/// standard output. Writing to a standard output that was closed is an error, messages to a standard error are lost.
void hold_standard_descriptors();

/// What to say of an error of stdout; 0 if it is not known which.
std::string lost_output(int error);

/// Prints a result in words: to stdout, or to stderr where stdout takes a file of data.
void print_in_words(const std::string& text, bool data_on_stdout);

/// Whether stdout is a terminal: what is written there must not be mixed with a line of progress.
bool stdout_is_terminal();

/// Writes what is left of stdout. What is wrong with it if any of it was lost, at whatever time.
std::optional<std::string> finish_standard_output();

}  // namespace espalier::bench::cli
