#include "kernels/api/checks.hpp"

#include <limits>

namespace espalier {

std::optional<Error> invalid_threads(const Options& options) {
    constexpr int kMost = 1024;  // OpenMP ends the program when the system has no room for another
    if (options.threads >= 0 && options.threads <= kMost) return std::nullopt;
    return invalid("Options::threads is " + std::to_string(options.threads) + ": it goes from 1 to " +
                   std::to_string(kMost) + ", and 0 leaves it to OMP_NUM_THREADS and the CPUs that there are");
}

std::optional<Error> invalid_memory(Memory memory) {
    if (is_enumerator(memory, Memory::device)) return std::nullopt;
    return invalid("Options::memory is none of the enumerators of espalier::Memory: set it to host or device");
}

std::optional<Error> null_array(const void* data, std::string_view name, std::int64_t count) {
    if (data || count <= 0) return std::nullopt;
    return invalid(std::string(name) + " is null");
}

std::optional<Error> invalid_sizes(std::initializer_list<NamedSize> sizes) {
    // 16 bytes to a value at most, and room to step beyond the last one.
    constexpr std::int64_t kMaxValues = std::numeric_limits<std::int64_t>::max() / 64;
    std::int64_t product = 1;
    bool too_large = false;
    for (const auto& [name, value] : sizes) {
        if (value < 0) return invalid(std::string(name) + " is " + std::to_string(value) + ": it must not be negative");
        // A size of 0 empties the arrays that it belongs to, but not those of the other sizes.
        const std::int64_t factor = value > 0 ? value : 1;
        too_large = too_large || product > kMaxValues / factor;
        if (!too_large) product *= factor;
    }
    if (!too_large) return std::nullopt;
    std::string text;
    for (const NamedSize& size : sizes) text.append(text.empty() ? "" : " x ").append(size.name);
    return invalid(text + " is more than memory can hold");
}

std::optional<Error> invalid_stride(const Stride& stride) {
    if (stride.given == 0) return std::nullopt;
    const std::string is = std::string(stride.name) + " is " + std::to_string(stride.given);
    if (stride.given < 0) return invalid(is + ": it must not be negative, and 0 is for rows without gaps");
    if (stride.given < stride.row)
        return invalid(is + ", but " + std::string(stride.of) + " has " + std::to_string(stride.row) + " " +
                       std::string(stride.unit) + ": give at least as many, or 0 for rows without gaps");
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 64;
    if (stride.rows <= 1 || stride.given <= kMost / stride.rows) return std::nullopt;
    return invalid(is + ": " + std::to_string(stride.rows) + " rows so far apart are more than memory can hold");
}

std::optional<Error> other_sizes(std::initializer_list<SizedAs> sizes) {
    for (const auto& [name, given, planned] : sizes)
        if (given != planned)
            return invalid(std::string(name) + " is " + std::to_string(given) + ", but the plan is for " +
                           std::to_string(planned) + ": make another plan for other sizes");
    return std::nullopt;
}

}  // namespace espalier
