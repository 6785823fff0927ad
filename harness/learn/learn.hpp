#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/learn/distil.hpp"
#include "harness/learn/tree.hpp"

namespace espalier::bench::learn {

struct LearnOptions {
    std::uint64_t seed = 1;        ///< of folds and bootstraps
    std::size_t most_leaves = 48;  ///< of a tree; where an optional category parts it, of each part
};

/// Learns a tree on `rows` and on the matrix's drawn problems, whose times forests of the `rows` predict. The values of
/// an optional category have trees of their own under a common root, as if they were families of their own: few
/// variants run more than one of them. A tree with more than a leaf for eight problems is one only if forests choose
/// better for held-out problems than one choice for all does; fewer problems than folds are believed as they are.
Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options = {});

/// The problems of `rows` with their losses, several times as heavy, then those of `drawn` with predicted ones.
Lesson lesson_of(const Matrix& matrix, std::span<const std::size_t> rows, std::span<const std::size_t> drawn);

}  // namespace espalier::bench::learn
