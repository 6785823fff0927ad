#include "harness/sweep/twin.hpp"

#include <cstdint>

namespace espalier {
namespace {

constexpr std::int64_t kModulus = 256;  // a multiple of every tile and vector length in use

/// Index of the largest whole-numbered axis that can still shrink, or npos.
std::size_t largest_axis(const Family& family, const std::vector<double>& values) {
    const auto features = family.features();
    std::size_t largest = Family::npos;
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (features[i].derived || !features[i].categories.empty() || values[i] < 3 * kModulus) continue;
        if (largest == Family::npos || values[i] > values[largest]) largest = i;
    }
    return largest;
}

double halved(double value) {
    const auto size = static_cast<std::int64_t>(value);
    return static_cast<double>(size / 2 / kModulus * kModulus + size % kModulus);
}

}  // namespace

double operations_of(const Family& family, const std::string& problem) {
    const Cost cost = family.cost(problem);
    return cost.ops() + cost.bytes;
}

std::optional<std::string> scaled_down_twin(const Family& family, const std::string& problem, double operations) {
    std::string twin = problem;
    while (operations_of(family, twin) > operations) {
        auto values = family.feature_values(twin);
        const std::size_t axis = largest_axis(family, values);
        if (axis == Family::npos) return std::nullopt;
        values[axis] = halved(values[axis]);
        twin = family.key_of(values);
    }
    return twin;
}

}  // namespace espalier
