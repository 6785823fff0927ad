#pragma once

#include <nlohmann/json_fwd.hpp>

namespace espalier::bench::cli {

/// Prints a document and a line end to the standard output, as every `--json` does: ASCII alone, so that no path or
/// name in it acts on a terminal. Other characters are escaped, bytes that are no UTF-8 become U+FFFD. `indent` of -1:
/// one line.
void print_json(const nlohmann::ordered_json& json, int indent = -1);
void print_json(const nlohmann::json& json, int indent = -1);

}  // namespace espalier::bench::cli
