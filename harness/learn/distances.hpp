#pragma once

#include <cstddef>
#include <vector>

#include "harness/learn/matrix.hpp"

namespace espalier::bench::learn {

/// How far the problems of a matrix lie from each other: sizes by their ratio, every axis by its range; another
/// category is as far as an axis is long. Pairs and derived columns follow from the others and have no axis.
class Distances {
public:
    /// `known_only`: to whoever chooses; else axes that only a sweep knows count, too.
    explicit Distances(const Matrix& matrix, bool known_only = false);

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
