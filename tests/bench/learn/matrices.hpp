#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/learn/matrix.hpp"

namespace espalier::bench::learn {

using Rows = std::vector<std::vector<double>>;
/// log slowdown of a candidate on a row before the best is subtracted; NaN where unsupported.
using Model = std::function<double(std::span<const double> row, std::size_t candidate)>;

/// Every candidate is a variant of its own; the last one is the baseline.
inline Matrix matrix_of(std::vector<Column> columns, const Rows& rows, std::size_t candidates, const Model& model) {
    Matrix matrix;
    matrix.columns = std::move(columns);
    for (std::size_t c = 0; c < candidates; ++c) matrix.candidates.push_back({c, 0});
    matrix.baseline = candidates - 1;
    for (const auto& row : rows) {
        std::string key;
        for (const double value : row) key += std::to_string(value) + ";";
        matrix.problems.push_back(key);
        matrix.values.insert(matrix.values.end(), row.begin(), row.end());
        std::vector<double> logs;
        for (std::size_t c = 0; c < candidates; ++c) logs.push_back(model(row, c));
        double best = INFINITY;
        for (const double log : logs)
            if (!std::isnan(log)) best = std::min(best, log);
        for (const double log : logs) {
            const bool measured = !std::isnan(log);
            matrix.states.push_back(measured ? CellState::measured : CellState::unsupported);
            matrix.slowdown.push_back((measured ? log : logs.back()) - best);
            matrix.loss.push_back(measured_loss(matrix.slowdown.back(), false));
        }
    }
    return matrix;
}

inline Rows grid(const std::vector<std::vector<double>>& axes) {
    Rows rows{{}};
    for (const auto& axis : axes) {
        Rows longer;
        for (const auto& prefix : rows)
            for (const double value : axis) {
                longer.push_back(prefix);
                longer.back().push_back(value);
            }
        rows = std::move(longer);
    }
    return rows;
}

inline const std::vector<double> kSizes{16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};

}  // namespace espalier::bench::learn
