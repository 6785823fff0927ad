#include "reference_cpu/smallest_k.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::reference {

bool comes_before(const Neighbour& a, const Neighbour& b) {
    if (std::isnan(a.value) != std::isnan(b.value)) return std::isnan(b.value);
    if (a.value < b.value || b.value < a.value) return a.value < b.value;
    return a.index < b.index;
}

std::vector<Neighbour> smallest_k(const std::vector<float>& row, std::int64_t k) {
    std::vector<Neighbour> all;
    all.reserve(row.size());
    for (const float value : row) all.push_back({value, static_cast<std::int32_t>(all.size())});
    const auto wanted = std::min(static_cast<std::size_t>(k), all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(wanted), all.end(), comes_before);
    all.resize(wanted);
    all.resize(static_cast<std::size_t>(k), {std::numeric_limits<float>::quiet_NaN(), -1});
    return all;
}

}  // namespace espalier::reference
