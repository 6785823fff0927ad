#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace espalier::bench::cli {

/// Bytes of code and data in the object file of a variant, "family/variant", as this build compiled it: what a program
/// grows by that links it, templates that others instantiate as well counted every time. Nothing for GPU variants in
/// builds without CUDA, where the object is not what would ship.
std::optional<std::size_t> object_bytes(const std::string& variant);

}  // namespace espalier::bench::cli
