#pragma once

#include <limits>
#include <optional>
#include <string>

#include "espalier/smallest_k.hpp"

/// The library's calls refuse these, although a variant may have no objection. Explaining a choice refuses the same.
namespace espalier {

/// Numbers of channels that images have.
inline std::optional<std::string> refused_channels(std::int64_t channels) {
    if (channels == 1 || channels == 3 || channels == 4) return std::nullopt;
    return "channels is " + std::to_string(channels) + ": 1, 3 and 4 are supported";
}

inline std::optional<std::string> refused_k(std::int64_t k) {
    if (k >= 1 && k <= kMaxSmallestK) return std::nullopt;
    return "k is " + std::to_string(k) + ": it goes from 1 to " + std::to_string(kMaxSmallestK);
}

/// A count of what results hold the numbers of.
inline std::optional<std::string> refused_count(const char* name, std::int64_t count) {
    if (count <= std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    return std::string(name) + " is " + std::to_string(count) + ": indices of 32 bits reach 2147483647";
}

/// What the library's calls refuse although a variant may have no objection; explaining a choice refuses the same. A
/// family that refuses anything has an overload in its own namespace, in kernels/dispatch/refusals/<family>.hpp.
template <class P>
std::optional<std::string> refusal_of(const P&) {
    return std::nullopt;
}

}  // namespace espalier
