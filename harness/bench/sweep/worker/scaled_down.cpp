#include "harness/bench/sweep/worker/scaled_down.hpp"

#include <cstdint>

namespace espalier::bench {
namespace {

// A multiple of every tile and vector length in use; then, for problems with several middling axes that
// multiply to more than the oracle affords, of a warp.
constexpr std::int64_t kModuli[] = {256, 32};

/// Index of the largest whole-numbered axis that can still shrink and keep its remainder, or npos.
std::size_t largest_axis(const Family& family, const std::vector<double>& values, std::int64_t modulus) {
    const auto features = family.features();
    std::size_t largest = Family::npos;
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (features[i].derived || !features[i].categories.empty() || values[i] < 3.0 * static_cast<double>(modulus))
            continue;
        if (largest == Family::npos || values[i] > values[largest]) largest = i;
    }
    return largest;
}

double halved(double value, std::int64_t modulus) {
    const auto size = static_cast<std::int64_t>(value);
    return static_cast<double>(size / 2 / modulus * modulus + size % modulus);
}

}  // namespace

double operations_of(const Family& family, const std::string& problem) {
    const Cost cost = family.cost(problem);
    return cost.ops() + cost.bytes;
}

std::optional<std::string> scaled_down_problem(const Family& family, const std::string& problem, double operations) {
    std::string smaller = problem;
    for (const std::int64_t modulus : kModuli)
        while (operations_of(family, smaller) > operations) {
            auto values = family.feature_values(smaller);
            const std::size_t axis = largest_axis(family, values, modulus);
            if (axis == Family::npos) break;
            values[axis] = halved(values[axis], modulus);
            smaller = family.key_of(values);
        }
    if (operations_of(family, smaller) > operations) return std::nullopt;
    return smaller;
}

}  // namespace espalier::bench
