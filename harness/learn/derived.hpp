#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "harness/learn/matrix.hpp"
#include "harness/learn/surrogate.hpp"

namespace espalier::bench::learn {

/// What derived columns, like products of sizes, would be for other sizes, by power laws of the sizes that fit what
/// they are for the problems of a matrix. One that none fits, like the alignment of a row, is not known for others.
class DerivedColumns {
public:
    explicit DerivedColumns(const Matrix& matrix);

    /// Whether every one is known.
    [[nodiscard]] bool complete() const { return complete_; }

    /// Replaces the derived ones among the values of the family's columns, which are those of a problem of the matrix
    /// but for some sizes.
    void adapt(std::size_t problem, std::vector<double>& values) const;

private:
    [[nodiscard]] std::span<const double> of(std::size_t problem) const;
    void fit(const Matrix& matrix, std::size_t column);

    std::vector<std::size_t> sizes_;             ///< columns
    std::vector<double> logs_;                   ///< problems x sizes
    std::vector<std::optional<PowerLaw>> laws_;  ///< by column
    bool complete_ = true;
};

}  // namespace espalier::bench::learn
