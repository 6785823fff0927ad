#include "reference_cpu/histogram.hpp"

namespace espalier::reference {

Histogram256 histogram(std::span<const std::uint8_t> bytes) {
    Histogram256 counts{};
    for (const std::uint8_t byte : bytes) ++counts[byte];
    return counts;
}

}  // namespace espalier::reference
