#include "harness/bench/learn/distances.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::bench::learn {

Distances::Distances(const Matrix& matrix, Axes axes) {
    for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
        const Column& column = matrix.columns[c];
        if (column.derived || column.inert || (axes == Axes::known && !column.known) || matrix.rows() == 0) continue;
        Axis axis{column.categories > 0, 1, {}};
        for (std::size_t p = 0; p < matrix.rows(); ++p)
            axis.at.push_back(axis.category ? matrix.value(p, c) : std::log2(1 + std::max(0.0, matrix.value(p, c))));
        const auto [least, most] = std::ranges::minmax(axis.at);
        if (least == most) continue;
        if (!axis.category) axis.length = most - least;
        axes_.push_back(std::move(axis));
    }
}

double Distances::operator()(std::size_t a, std::size_t b) const {
    double sum = 0;
    for (const auto& [category, length, at] : axes_) {
        const double d = category ? static_cast<double>(at[a] != at[b]) : (at[a] - at[b]) / length;
        sum += d * d;
    }
    return std::sqrt(sum);
}

}  // namespace espalier::bench::learn
