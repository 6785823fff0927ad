#include "reference_cpu/coherent_sum.hpp"

#include <cmath>

namespace espalier::reference {

std::vector<double> coherent_sum(std::span<const float> traces, std::int64_t trace_samples, const std::int32_t* delays,
                                 std::int64_t receivers, std::int64_t samples, std::vector<double>& magnitude) {
    std::vector<double> sums(static_cast<std::size_t>(samples), 0.0);
    magnitude.assign(sums.size(), 0.0);
    for (std::int64_t r = 0; r < receivers; ++r)
        for (std::int64_t k = 0; k < samples; ++k) {
            const double value = traces[static_cast<std::size_t>(r * trace_samples + k + delays[r])];
            sums[static_cast<std::size_t>(k)] += value;
            magnitude[static_cast<std::size_t>(k)] += std::abs(value);
        }
    return sums;
}

}  // namespace espalier::reference
