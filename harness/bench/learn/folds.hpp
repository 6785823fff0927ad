#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/bench/learn/matrix.hpp"

namespace espalier::bench::learn {

/// One part of a cross-validation.
struct Fold {
    std::vector<std::size_t> training, held_out;
};

inline constexpr std::size_t kFolds = 10;

/// Whether two problems are the same but for what is unknown and for 5% of each number.
bool near_duplicates(std::span<const Column> columns, std::span<const double> a, std::span<const double> b);

/// Parts `rows` into `kFolds` folds (fewer if there are fewer groups of problems; none if there is only
/// one). Near-duplicates, problems of the same categories whose numbers all lie within 5%, are held out
/// together: one left among the training problems would give the answer away. Depends on the
/// problems' keys and the seed, not on their order.
std::vector<Fold> make_folds(const Matrix& matrix, std::span<const std::size_t> rows, std::uint64_t seed);

}  // namespace espalier::bench::learn
