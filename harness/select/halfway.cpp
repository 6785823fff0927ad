#include "harness/select/halfway.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "harness/select/pairs.hpp"
#include "harness/select/surrogate.hpp"

namespace espalier::select {
namespace {

/// Of each problem. More of them make the exact search for trees too expensive.
constexpr std::size_t kNeighbours = 2;
/// Guessed differences below it are none.
constexpr double kSame = 0.01;

void append(Matrix& to, const Matrix& from, std::size_t row) {
    to.problems.push_back(from.problems[row]);
    const auto values = from.row(row);
    to.values.insert(to.values.end(), values.begin(), values.end());
    for (std::size_t c = 0; c < from.candidates.size(); ++c) {
        to.states.push_back(from.state(row, c));
        to.slowdown.push_back(from.log_slowdown(row, c));
        to.loss.push_back(from.loss_of(row, c));
    }
}

/// The candidate that most of the rows have a time of: slowdowns against it have no kink where the best one changes.
std::size_t reference(const Matrix& matrix, std::span<const std::size_t> rows) {
    const auto times = [&](std::size_t c) {
        return std::ranges::count_if(rows, [&](std::size_t r) { return matrix.has_time(r, c); });
    };
    return std::ranges::max(matrix.all_candidates(), {}, times);
}

/// Alike but for sizes that have a ratio.
bool comparable(const Matrix& matrix, std::size_t a, std::size_t b) {
    for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
        const double x = matrix.value(a, c), y = matrix.value(b, c);
        if (x != y && (matrix.columns[c].categories > 0 || x <= 0 || y <= 0)) return false;
    }
    return true;
}

class Halfway {
public:
    Halfway(const Matrix& matrix, std::span<const std::size_t> rows)
        : matrix_(matrix), rows_(rows), positions_(matrix), result_(without_halfway_problems(matrix, rows)) {
        const std::size_t against = reference(matrix, rows);
        for (std::size_t c = 0; c < matrix.candidates.size(); ++c) {
            std::vector<Sample> samples;
            for (const std::size_t r : rows)
                if (matrix.has_time(r, c) && matrix.has_time(r, against))
                    samples.push_back({positions_.of(r), matrix.log_slowdown(r, c) - matrix.log_slowdown(r, against)});
            models_.emplace_back(std::move(samples));
        }
    }

    WithHalfway add() && {
        std::set<std::pair<std::size_t, std::size_t>> done;
        for (const std::size_t row : rows_)
            for (const std::size_t other : neighbours(row))
                if (done.insert(std::minmax(row, other)).second) add_between(row, other);
        return std::move(result_);
    }

private:
    std::vector<std::size_t> neighbours(std::size_t row) const {
        std::vector<std::pair<double, std::size_t>> near;
        for (const std::size_t other : rows_)
            if (other != row && comparable(matrix_, row, other))
                near.emplace_back(distance(positions_.of(row), positions_.of(other)), other);
        std::ranges::sort(near);
        near.resize(std::min(near.size(), kNeighbours));
        std::vector<std::size_t> result;
        for (const auto& [unused, other] : near) result.push_back(other);
        return result;
    }

    /// Derived columns, too: those that are products of sizes stay what they are of the sizes there.
    std::vector<double> values_between(std::size_t a, std::size_t b) const {
        std::vector<double> values;
        for (std::size_t c = 0; c < matrix_.columns.size() && !matrix_.columns[c].is_pair(); ++c) {
            const double x = matrix_.value(a, c), y = matrix_.value(b, c);
            values.push_back(x == y ? x : std::round(std::sqrt(x) * std::sqrt(y)));
        }
        return values_of(matrix_.columns, std::move(values));
    }

    CellState state_between(std::size_t a, std::size_t b, std::size_t candidate) const {
        const CellState x = matrix_.state(a, candidate), y = matrix_.state(b, candidate);
        if (x == CellState::unsupported || y == CellState::unsupported) return CellState::unsupported;
        const bool missing = x == CellState::missing && y == CellState::missing;
        return missing || models_[candidate].empty() ? CellState::missing : CellState::measured;
    }

    void add_between(std::size_t a, std::size_t b) {
        const std::vector<double> values = values_between(a, b);
        if (std::ranges::equal(values, matrix_.row(a)) || std::ranges::equal(values, matrix_.row(b))) return;
        std::vector<CellState> states;
        std::vector<double> logs = guess_between(a, b, states);
        if (states[matrix_.baseline] != CellState::measured || same_best(a, b, logs)) return;
        Matrix& matrix = result_.matrix;
        matrix.problems.emplace_back();
        matrix.values.insert(matrix.values.end(), values.begin(), values.end());
        matrix.states.insert(matrix.states.end(), states.begin(), states.end());
        for (const double log : logs) {
            matrix.slowdown.push_back(log);
            matrix.loss.push_back(measured_loss(log, log <= kSame));
        }
    }

    /// Logarithms of slowdowns. What is not known counts as the slowest that is.
    std::vector<double> guess_between(std::size_t a, std::size_t b, std::vector<CellState>& states) const {
        std::vector<double> position(positions_.axes());
        std::ranges::transform(positions_.of(a), positions_.of(b), position.begin(),
                               [](double x, double y) { return (x + y) / 2; });
        std::vector<double> logs(matrix_.candidates.size());
        double best = std::numeric_limits<double>::infinity(), slowest = -best;
        for (std::size_t c = 0; c < logs.size(); ++c) {
            states.push_back(state_between(a, b, c));
            if (states[c] != CellState::measured) continue;
            logs[c] = models_[c].at(position);
            best = std::min(best, logs[c]), slowest = std::max(slowest, logs[c]);
        }
        const double baseline = logs[matrix_.baseline];
        for (std::size_t c = 0; c < logs.size(); ++c) {
            if (states[c] == CellState::missing) logs[c] = slowest;
            if (states[c] == CellState::unsupported) logs[c] = baseline;
            logs[c] -= best;
        }
        return logs;
    }

    /// Whether some choice is as good as the best of both and halfway: then no boundary lies between them.
    bool same_best(std::size_t a, std::size_t b, const std::vector<double>& logs) const {
        const auto best_of = [&](std::size_t row, std::size_t candidate) {
            return matrix_.loss_of(row, candidate) < kLossUnit / 1000;  // more than a forgiven difference costs
        };
        for (std::size_t c = 0; c < logs.size(); ++c)
            if (logs[c] <= kSame && best_of(a, c) && best_of(b, c)) return true;
        return false;
    }

    const Matrix& matrix_;
    std::span<const std::size_t> rows_;
    Positions positions_;
    std::vector<Surrogate> models_;  ///< by candidate
    WithHalfway result_;
};

}  // namespace

WithHalfway without_halfway_problems(const Matrix& matrix, std::span<const std::size_t> rows) {
    WithHalfway result{matrix, rows.size()};
    Matrix& chosen = result.matrix;
    chosen.problems.clear(), chosen.values.clear();
    chosen.states.clear(), chosen.slowdown.clear(), chosen.loss.clear(), chosen.log_times.clear();
    for (const std::size_t row : rows) append(chosen, matrix, row);
    return result;
}

WithHalfway with_halfway_problems(const Matrix& matrix, std::span<const std::size_t> rows) {
    return Halfway(matrix, rows).add();
}

}  // namespace espalier::select
