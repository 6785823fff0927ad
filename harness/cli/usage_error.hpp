#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace espalier::bench::cli {

/// What is wrong with the command line, in one or two lines that begin with the command: what was probably meant, and
/// where the help is.
std::string describe_usage_error(const CLI::App& program, const CLI::ParseError& error);

}  // namespace espalier::bench::cli
