#include "harness/select/matrix.hpp"

#include <cmath>
#include <numeric>

namespace espalier::select {

std::vector<std::size_t> Matrix::all() const {
    std::vector<std::size_t> rows(problems.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return rows;
}

Loss measured_loss(double log_slowdown, bool within_noise) {
    constexpr double kTieBreak = 1e-3;
    const double counted = (within_noise ? 0 : log_slowdown) + kTieBreak * log_slowdown;
    return std::llround(counted * static_cast<double>(kLossUnit));
}

}  // namespace espalier::select
