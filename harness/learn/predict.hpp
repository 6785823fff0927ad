#pragma once

#include <span>
#include <vector>

#include "harness/learn/forest.hpp"
#include "harness/learn/matrix.hpp"

namespace espalier::bench::learn {

/// What forests know of problems: sizes and derived columns by their logarithm, how often two divides a size (up
/// to 64), a category as a column for each of its values. Absent columns and pairs are left out. `values`: rows x
/// columns.
Table features(std::span<const Column> columns, std::span<const double> values);

/// log(time / best time) of every candidate for every row of `to` (rows x candidates), as forests of those of `rows`
/// of the matrix predict it; NaN for a candidate that was tried for none of them. A choice that failed counts as the
/// slowest one there.
std::vector<double> predict(const Matrix& matrix, std::span<const std::size_t> rows, const Table& to,
                            const ForestOptions& options = {});

}  // namespace espalier::bench::learn
