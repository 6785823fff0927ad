#include "harness/bench/learn/imputation.hpp"

#include <algorithm>
#include <cmath>

#include "harness/bench/learn/forest.hpp"

namespace espalier::bench::learn {

Surrogate::Surrogate(const Matrix& matrix, const Distances& distance, std::vector<double> logs)
    : width_(matrix.candidates.size()), logs_(std::move(logs)), uncertainties_(logs_.size()), samples_(width_) {
    centre();
    const Table table = features(matrix.columns, matrix.values);
    for (std::size_t c = 0; c < width_; ++c) {
        std::vector<Observation> samples;
        for (std::size_t p = 0; p < matrix.rows(); ++p)
            if (const double log = logs_[p * width_ + c]; !std::isnan(log)) samples.push_back({p, log});
        samples_[c] = samples.size();
        if (samples.empty()) continue;
        const Forest forest(table, samples, c + 1);
        const auto means = forest.at(table), spreads = forest.spread(table, means);
        for (std::size_t p = 0; p < matrix.rows(); ++p) {
            double& log = logs_[p * width_ + c];
            if (!std::isnan(log)) continue;
            double nearest = distance(p, samples.front().row);
            for (const Observation& sample : samples) nearest = std::min(nearest, distance(p, sample.row));
            log = means[p], uncertainties_[p * width_ + c] = nearest + spreads[p];
        }
    }
}

/// Takes off each problem's level. Only some choices of a problem were measured: whether they are good ones or the slow
/// ones shows where others were measured, too. So a logarithm is taken for the sum of the problem's level, the choice's
/// and a rest.
void Surrogate::centre() {
    constexpr int kRounds = 10;
    const std::size_t rows = logs_.size() / width_;
    std::vector<double> of_problem(rows), of_choice(width_);
    const auto mean_rest = [&](std::size_t first, std::size_t step, std::size_t count, const auto& other) {
        double sum = 0;
        int known = 0;
        for (std::size_t i = 0; i < count; ++i)
            if (const double log = logs_[first + i * step]; !std::isnan(log)) sum += log - other[i], ++known;
        return known ? sum / known : 0;
    };
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t p = 0; p < rows; ++p) of_problem[p] = mean_rest(p * width_, 1, width_, of_choice);
        for (std::size_t c = 0; c < width_; ++c) of_choice[c] = mean_rest(c, width_, rows, of_problem);
    }
    for (std::size_t p = 0; p < rows; ++p)
        for (std::size_t c = 0; c < width_; ++c) logs_[p * width_ + c] -= of_problem[p];
}

void Surrogate::enter(std::size_t problem, Matrix& matrix) const {
    constexpr double kUncertaintyWeight = 0.125;  // a prediction must promise more than what was measured
    std::vector<double> logs;
    for (std::size_t c = 0; c < width_; ++c)
        logs.push_back(matrix.has_time(problem, c) ? log(problem, c) + kUncertaintyWeight * uncertainty(problem, c)
                                                   : NAN);
    enter_costs(matrix, problem, logs, [](std::size_t, double log) { return is_within_noise(log); });
}

void impute(Matrix& matrix, std::span<const std::size_t> rows) {
    const std::size_t width = matrix.candidates.size();
    std::vector<double> logs(matrix.log_times.size(), NAN);
    for (const std::size_t p : rows)
        std::copy_n(matrix.log_times.begin() + static_cast<std::ptrdiff_t>(p * width), width,
                    logs.begin() + static_cast<std::ptrdiff_t>(p * width));
    const Surrogate surrogate(matrix, Distances(matrix, Distances::Axes::all), std::move(logs));
    // Problems that were measured in full are known better: noise was looked at.
    for (const std::size_t p : rows)
        if (matrix.any(p, CellState::imputed)) surrogate.enter(p, matrix);
}

}  // namespace espalier::bench::learn
