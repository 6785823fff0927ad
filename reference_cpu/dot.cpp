#include "reference_cpu/dot.hpp"

#include <cmath>

namespace espalier::reference {

Dot dot(std::span<const float> a, std::span<const float> b) {
    Dot result;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double product = static_cast<double>(a[i]) * static_cast<double>(b[i]);
        result.sum += product;
        result.absolute_sum += std::abs(product);
    }
    return result;
}

}  // namespace espalier::reference
