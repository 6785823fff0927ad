#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace espalier::bench {

/// The device asked for is not there; `what()` says why and what to do.
class NoUsableDevice : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The devices of "cpu", a GPU's number, several of these with commas between them, or "all". Those of one turn are
/// swept at once: all GPUs first, then the CPU alone, whose times the others would disturb. Throws `BadProblem` if one
/// is named twice.
std::vector<std::vector<std::string>> devices_named(const std::string& names);

}  // namespace espalier::bench
