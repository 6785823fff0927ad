#include "harness/learn/halfway.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "harness/learn/derived.hpp"
#include "harness/learn/pairs.hpp"
#include "harness/learn/surrogate.hpp"

namespace espalier::bench::learn {
namespace {

/// Of each problem. More of them make the exact search for trees too expensive.
constexpr std::size_t kNeighbours = 2;
/// Guessed differences below it are none.
constexpr double kSame = 0.01;
/// Of two problems, one measured and one guessed, the measured one counts for as many.
constexpr Loss kMeasuredForGuessed = 2;

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
        : matrix_(matrix),
          rows_(rows),
          positions_(matrix),
          derived_(matrix),
          most_(matrix.columns.size()),
          result_(without_halfway_problems(matrix, rows)) {
        for (const std::size_t r : rows)
            std::ranges::transform(most_, matrix.row(r), most_.begin(),
                                   [](double a, double b) { return std::max(a, b); });
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
        if (derived_.complete()) add_steps();
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
        append_guessed(values, states, logs);
    }

    void append_guessed(const std::vector<double>& values, const std::vector<CellState>& states,
                        const std::vector<double>& logs) {
        Matrix& matrix = result_.matrix;
        matrix.problems.emplace_back();
        matrix.values.insert(matrix.values.end(), values.begin(), values.end());
        matrix.states.insert(matrix.states.end(), states.begin(), states.end());
        for (const double log : logs) {
            matrix.slowdown.push_back(log);
            matrix.loss.push_back(measured_loss(log, log <= kSame) / kMeasuredForGuessed);
        }
    }

    /// What tells problems apart.
    std::vector<double> own_values(std::span<const double> values) const {
        std::vector<double> own;
        for (std::size_t c = 0; c < matrix_.columns.size(); ++c)
            if (!matrix_.columns[c].derived && !matrix_.columns[c].is_pair()) own.push_back(values[c]);
        return own;
    }

    void add_steps() {
        std::set<std::vector<double>> known;
        for (const std::size_t row : rows_) known.insert(own_values(matrix_.row(row)));
        for (std::size_t column = 0; column < matrix_.columns.size(); ++column)
            if (positions_.axes_of(column).count > 0 && matrix_.columns[column].known) {
                if (matrix_.columns[column].categories > 0)
                    add_changes(column, known);
                else
                    add_steps(column, known);
            }
    }

    void add_steps(std::size_t column, std::set<std::vector<double>>& known) {
        std::map<double, std::vector<std::size_t>> by_size;
        for (const std::size_t row : rows_) by_size[matrix_.value(row, column)].push_back(row);
        for (auto at = by_size.begin(); at != by_size.end(); ++at)
            for (const std::size_t row : at->second) {
                if (at != by_size.begin()) add_step(row, column, std::prev(at)->second, known);
                if (std::next(at) != by_size.end()) add_step(row, column, std::next(at)->second, known);
            }
    }

    /// Every row with another category that was measured anywhere.
    void add_changes(std::size_t column, std::set<std::vector<double>>& known) {
        std::map<double, std::vector<std::size_t>> by_category;
        for (const std::size_t row : rows_) by_category[matrix_.value(row, column)].push_back(row);
        for (const std::size_t row : rows_)
            for (const auto& [category, there] : by_category)
                if (category != matrix_.value(row, column)) add_step(row, column, there, known);
    }

    /// `there`: the rows that have the other size or category.
    void add_step(std::size_t row, std::size_t column, const std::vector<std::size_t>& there,
                  std::set<std::vector<double>>& known) {
        std::vector<double> values;
        for (std::size_t c = 0; c < matrix_.columns.size() && !matrix_.columns[c].is_pair(); ++c)
            values.push_back(matrix_.value(row, c));
        values[column] = matrix_.value(there.front(), column);
        derived_.adapt(row, values);
        if (beyond_all(values) || !known.insert(own_values(values)).second) return;
        std::vector<double> position(positions_.of(row).begin(), positions_.of(row).end());
        const auto [axis, axes] = positions_.axes_of(column);
        for (std::size_t i = axis; i < axis + axes; ++i) position[i] = positions_.of(there.front())[i];
        const std::size_t nearest = *std::ranges::min_element(
            there, {}, [&](std::size_t other) { return distance(positions_.of(other), position); });
        std::vector<CellState> states;
        std::vector<double> logs = guess_at(position, row, nearest, states);
        if (states[matrix_.baseline] == CellState::measured)
            append_guessed(values_of(matrix_.columns, std::move(values)), states, logs);
    }

    /// Larger in some way than anything measured: most likely it does not fit the memory.
    bool beyond_all(const std::vector<double>& values) const {
        for (std::size_t c = 0; c < values.size(); ++c)
            if (values[c] > most_[c]) return true;
        return false;
    }

    std::vector<double> guess_between(std::size_t a, std::size_t b, std::vector<CellState>& states) const {
        std::vector<double> position(positions_.axes());
        std::ranges::transform(positions_.of(a), positions_.of(b), position.begin(),
                               [](double x, double y) { return (x + y) / 2; });
        return guess_at(position, a, b, states);
    }

    /// Logarithms of slowdowns. What is not known counts as the slowest that is.
    std::vector<double> guess_at(const std::vector<double>& position, std::size_t a, std::size_t b,
                                 std::vector<CellState>& states) const {
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
    DerivedColumns derived_;
    std::vector<double> most_;       ///< by column: the largest value of the rows
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

}  // namespace espalier::bench::learn
