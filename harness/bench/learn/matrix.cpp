#include "harness/bench/learn/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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

std::vector<std::size_t> Matrix::without_imputed() const {
    std::vector<std::size_t> rows = all();
    std::erase_if(rows, [&](std::size_t p) { return any(p, CellState::imputed); });
    return rows.empty() ? all() : rows;
}

bool Matrix::any(std::size_t problem, CellState cell) const {
    const std::span row(states.data() + problem * candidates.size(), candidates.size());
    return std::ranges::find(row, cell) != row.end();
}

std::size_t Matrix::count(CellState cell) const {
    return static_cast<std::size_t>(std::count(states.begin(), states.end(), cell));
}

std::vector<double> Matrix::values_of(std::span<const std::size_t> some) const {
    std::vector<double> result;
    for (const std::size_t p : some) result.insert(result.end(), row(p).begin(), row(p).end());
    return result;
}

double Matrix::log_time(std::size_t problem, std::size_t candidate) const {
    if (!measured(problem, candidate)) return std::numeric_limits<double>::quiet_NaN();
    return log_times.empty() ? log_slowdown(problem, candidate) : log_times[problem * candidates.size() + candidate];
}

std::vector<std::size_t> places_of(const Matrix& matrix, const Matrix& other) {
    std::vector<std::size_t> places;
    for (const Choice& candidate : matrix.candidates)
        places.push_back(
            static_cast<std::size_t>(std::ranges::find(other.candidates, candidate) - other.candidates.begin()));
    return places;
}

void enter_costs(Matrix& matrix, std::size_t problem, std::span<const double> logs,
                 const std::function<bool(std::size_t, double)>& same) {
    double best = std::numeric_limits<double>::infinity(), slowest = -best;
    for (std::size_t c = 0; c < logs.size(); ++c)
        if (matrix.state(problem, c) != CellState::unsupported && !std::isnan(logs[c]))
            best = std::min(best, logs[c]), slowest = std::max(slowest, logs[c]);
    const auto enter = [&](std::size_t c) {
        const std::size_t cell = problem * logs.size() + c, baseline = problem * logs.size() + matrix.baseline;
        if (matrix.states[cell] == CellState::unsupported) {
            matrix.slowdown[cell] = matrix.slowdown[baseline];
            matrix.loss[cell] = matrix.loss[baseline];
            return;
        }
        const bool timed = !std::isnan(logs[c]);
        const double log = timed ? logs[c] - best : std::max(0.0, slowest - best);
        matrix.slowdown[cell] = log;
        // The baseline stays choosable where it ran out of time or memory: something must end every leaf.
        const bool choosable = timed || c == matrix.baseline;
        matrix.loss[cell] = choosable ? measured_loss(log, timed && same(c, log)) : kInfeasible;
    };
    enter(matrix.baseline);
    for (std::size_t c = 0; c < logs.size(); ++c) enter(c);
}

Loss measured_loss(double log_slowdown, bool within_noise) {
    constexpr double kTieBreak = 1e-3;
    const double counted = (within_noise ? 0 : log_slowdown) + kTieBreak * log_slowdown;
    return std::llround(counted * static_cast<double>(kLossUnit));
}

}  // namespace espalier::bench::learn
