#include "harness/learn/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace espalier::bench::learn {

namespace {

std::vector<std::size_t> indices(std::size_t count) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

}  // namespace

std::vector<std::size_t> Matrix::all() const { return indices(problems.size()); }
std::vector<std::size_t> Matrix::all_candidates() const { return indices(candidates.size()); }

std::vector<std::size_t> Matrix::without_guesses() const {
    std::vector<std::size_t> rows = all();
    std::erase_if(rows, [&](std::size_t p) { return any(p, CellState::guessed); });
    return rows.empty() ? all() : rows;
}

bool Matrix::any(std::size_t problem, CellState cell) const {
    const std::span row(states.data() + problem * candidates.size(), candidates.size());
    return std::ranges::find(row, cell) != row.end();
}

std::size_t Matrix::count(CellState cell) const {
    return static_cast<std::size_t>(std::count(states.begin(), states.end(), cell));
}

Loss measured_loss(double log_slowdown, bool within_noise) {
    constexpr double kTieBreak = 1e-3;
    const double counted = (within_noise ? 0 : log_slowdown) + kTieBreak * log_slowdown;
    return std::llround(counted * static_cast<double>(kLossUnit));
}

}  // namespace espalier::bench::learn
