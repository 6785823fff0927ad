#include "harness/bench/learn/others.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/bench/learn/folds.hpp"

namespace espalier::bench::learn {
namespace {

/// Empty if nothing of the problem was measured.
std::vector<double> slowdowns(const Matrix& other, std::size_t problem, std::span<const std::size_t> places) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> logs;
    double best = std::numeric_limits<double>::infinity();
    for (const std::size_t c : places) {
        logs.push_back(c < other.candidates.size() ? other.log_time(problem, c) : kNone);
        if (!std::isnan(logs.back())) best = std::min(best, logs.back());
    }
    if (std::isinf(best)) return {};
    for (double& log : logs) log -= best;
    return logs;
}

/// Whether a problem differs from those of a matrix in something that they all have in common.
bool foreign(const Matrix& matrix, std::span<const double> values) {
    for (std::size_t c = 0; c < matrix.columns.size(); ++c)
        if (matrix.columns[c].absent && values[c] != matrix.value(0, c)) return true;
    return false;
}

void append(const Matrix& matrix, const Matrix& other, int device, OtherProblems& all) {
    const std::vector<std::size_t> places = places_of(matrix, other);
    for (std::size_t p = 0; p < other.rows(); ++p) {
        const std::vector<double> logs = slowdowns(other, p, places);
        if (logs.empty() || foreign(matrix, other.row(p))) continue;
        all.problems.push_back(other.problems[p]);
        all.device.push_back(device);
        all.slowdown.insert(all.slowdown.end(), logs.begin(), logs.end());
        all.values.insert(all.values.end(), other.row(p).begin(), other.row(p).end());
        auto& twins = all.twins.emplace_back();
        for (const std::size_t own : matrix.all())
            if (near_duplicates(matrix.columns, matrix.row(own), other.row(p))) twins.push_back(own);
    }
}

}  // namespace

void learn_beside(Matrix& matrix, std::span<const Matrix> others) {
    if (others.empty()) return;
    auto all = std::make_shared<OtherProblems>();
    int device = 0;
    for (const Matrix& other : others) append(matrix, other, ++device, *all);
    matrix.others = std::move(all);
}

Matrix alone(Matrix matrix) {
    matrix.others = nullptr;
    if (!matrix.drawn) return matrix;
    auto own = std::make_shared<DrawnProblems>(*matrix.drawn);
    const auto drop = [&](auto& rows, std::size_t width) {
        rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(own->alike * width));
    };
    drop(own->values, matrix.columns.size()), drop(own->supported, matrix.candidates.size());
    own->count -= own->alike, own->alike = 0;
    matrix.drawn = std::move(own);
    return matrix;
}

}  // namespace espalier::bench::learn
