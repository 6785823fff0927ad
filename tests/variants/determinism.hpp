#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// Calls `run` again and again under conditions that a correct kernel does not notice, each time with
/// the byte to fill memory with beforehand, and compares the outputs that it returns. The first
/// difference in words, or nothing. The link chooses what the conditions are: determinism_host.cpp has
/// the host executor run the threads in different orders, determinism_gpu.cpp repeats on the GPU.
std::optional<std::string> find_nondeterminism(const std::function<std::vector<std::byte>(std::uint8_t poison)>& run);

}  // namespace espalier
