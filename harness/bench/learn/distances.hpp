#pragma once

#include <cstddef>
#include <vector>

#include "harness/bench/learn/matrix.hpp"

namespace espalier::bench::learn {

/// How far the problems of a matrix lie from each other: sizes by their ratio, every axis by its range; another
/// category is as far as an axis is long. Pairs and derived columns follow from the others and have no axis.
class Distances {
public:
    /// Axes that count: those that whoever chooses knows; or all, also those that only a sweep knows.
    enum class Axes { known, all };

    explicit Distances(const Matrix& matrix, Axes axes = Axes::known);

    [[nodiscard]] double operator()(std::size_t a, std::size_t b) const;

private:
    struct Axis {
        bool category;
        double length;
        std::vector<double> at;  ///< by problem
    };
    std::vector<Axis> axes_;
};

}  // namespace espalier::bench::learn
