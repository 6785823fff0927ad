#include "harness/learn/predict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::bench::learn {
namespace {

/// Rounded, so that no two machines' logarithms put a problem on different sides of a threshold.
double logarithm(double value) { return std::round(std::log2(std::max(value, 1e-6)) * 0x1p16) * 0x1p-16; }

/// How often two divides a size, up to six times.
double evenness(double value) {
    int times = 0;
    for (double half = value / 2; times < 6 && half >= 1 && half == std::floor(half); half /= 2) ++times;
    return times;
}

}  // namespace

Table features(std::span<const Column> columns, std::span<const double> values) {
    Table table;
    for (auto row = values; !row.empty(); row = row.subspan(columns.size())) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
            if (columns[c].absent || columns[c].is_pair()) continue;
            for (int category = 0; category < columns[c].categories; ++category)
                table.values.push_back(row[c] == category);
            if (columns[c].categories > 0) continue;
            table.values.push_back(logarithm(row[c]));
            if (!columns[c].derived) table.values.push_back(evenness(row[c]));
        }
        if (table.columns == 0) table.columns = table.values.size();
    }
    return table;
}

std::vector<double> predict(const Matrix& matrix, std::span<const std::size_t> rows, const Table& to,
                            const ForestOptions& options) {
    const std::size_t width = matrix.candidates.size();
    std::vector<double> values;
    for (const std::size_t row : rows) values.insert(values.end(), matrix.row(row).begin(), matrix.row(row).end());
    const Table table = features(matrix.columns, values);
    std::vector<double> predicted(to.rows() * width, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t c = 0; c < width; ++c) {
        std::vector<Observation> samples;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (matrix.state(rows[i], c) != CellState::unsupported)
                samples.push_back({i, matrix.log_slowdown(rows[i], c)});
        if (samples.empty()) continue;
        ForestOptions own = options;
        own.seed = options.seed + c;
        const std::vector<double> of_candidate = Forest(table, samples, own).at(to);
        for (std::size_t r = 0; r < of_candidate.size(); ++r) predicted[r * width + c] = of_candidate[r];
    }
    return predicted;
}

}  // namespace espalier::bench::learn
