#include "reference_cpu/polyphase.hpp"

#include <cmath>

namespace espalier::reference {

double between_samples(std::span<const float> trace, double position) {
    if (position <= 0) return static_cast<double>(trace.front());
    if (position >= static_cast<double>(trace.size() - 1)) return static_cast<double>(trace.back());
    const double before = std::floor(position);
    const auto k = static_cast<std::size_t>(before);
    const double now = static_cast<double>(trace[k]), next = static_cast<double>(trace[k + 1]);
    return now + (position - before) * (next - now);
}

}  // namespace espalier::reference
