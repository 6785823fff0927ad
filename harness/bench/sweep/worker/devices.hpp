#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::bench {

/// The device asked for is not there; `what()` says why and what to do.
class NoUsableDevice : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The GPU that "cuda", "cuda:1" or "1" names; nothing for any other text.
std::optional<int> gpu_ordinal(std::string_view name);

/// The devices of "cpu", a GPU as `gpu_ordinal` reads it, several of these with commas between them, or "all", spelt
/// "cpu" or by number. Those of one turn are swept at once: all GPUs first, then the CPU alone, whose times the others
/// would disturb. Throws `BadProblem` for what is no device and if one is named twice.
std::vector<std::vector<std::string>> devices_named(const std::string& names);

}  // namespace espalier::bench
