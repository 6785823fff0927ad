#include "kernels/api/checks.hpp"

#include <limits>

namespace espalier {
namespace {

bool overlap(const NamedArray& a, const NamedArray& b) {
    const auto begin_a = reinterpret_cast<std::uintptr_t>(a.data), begin_b = reinterpret_cast<std::uintptr_t>(b.data);
    return begin_a < begin_b + static_cast<std::uintptr_t>(b.count) * b.bytes &&
           begin_b < begin_a + static_cast<std::uintptr_t>(a.count) * a.bytes;
}

}  // namespace

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

std::optional<Error> invalid_arrays(std::initializer_list<NamedArray> arrays) {
    for (const NamedArray& array : arrays) {
        if (array.count == 0) continue;
        if (!array.data) return invalid(std::string(array.name) + " is null");
        if (reinterpret_cast<std::uintptr_t>(array.data) % array.bytes != 0)
            return invalid(std::string(array.name) + " is not aligned to its elements of " +
                           std::to_string(array.bytes) + " bytes");
    }
    for (const NamedArray& output : arrays)
        for (const NamedArray& other : arrays) {
            if (!output.output || &output == &other || output.count == 0 || other.count == 0) continue;
            if (overlap(output, other))
                return invalid(std::string(output.name) + " and " + std::string(other.name) +
                               " overlap: write to other memory");
        }
    return std::nullopt;
}

}  // namespace espalier
