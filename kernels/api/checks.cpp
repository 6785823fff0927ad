#include "kernels/api/checks.hpp"

#include <limits>

namespace espalier {
std::optional<Error> invalid_sizes(std::initializer_list<NamedSize> sizes) {
    // 16 bytes to a value at most, and room to step beyond the last one.
    constexpr std::int64_t kMaxValues = std::numeric_limits<std::int64_t>::max() / 64;
    std::int64_t product = 1;
    bool too_large = false;
    std::string text;
    for (const auto& [name, value] : sizes) {
        if (value < 0) return invalid(std::string(name) + " is " + std::to_string(value) + ": it must not be negative");
        // A size of 0 empties the arrays that it belongs to, but not those of the other sizes.
        const std::int64_t factor = value > 0 ? value : 1;
        too_large = too_large || product > kMaxValues / factor;
        if (!too_large) product *= factor;
        text.append(text.empty() ? "" : " x ").append(name);
    }
    if (too_large) return invalid(text + " is more than memory can hold");
    return std::nullopt;
}

}  // namespace espalier
