#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/apps/tables/table.hpp"

namespace espalier::bench::io {

/// Which rows of a table test and which train, each in the table's order.
struct Split {
    std::vector<std::size_t> train, test;
};

/// A random split that anybody can reproduce. The numbers 0..rows-1 are shuffled: for i from rows-1 down to
/// 1, number i is swapped with number next() % (i + 1), where next() is SplitMix64 (Steele, Lea and Flood
/// 2014) started at `seed`. The first floor(fraction * rows + 0.5) of the result, but at least one and not
/// all, are the rows to test on. `rows` is at least 2.
Split random_split(std::size_t rows, double fraction, std::uint64_t seed);

/// The last `test_rows` rows test; fewer than all.
Split tail_split(std::size_t rows, std::size_t test_rows);

/// The rows that train and those that test. The former stay where they are: the table is never there twice.
std::pair<Rows, Rows> divide(Rows rows, const Split& split);

/// The rows of a table with these numbers.
Rows take(const Rows& rows, const std::vector<std::size_t>& numbers);

}  // namespace espalier::bench::io
