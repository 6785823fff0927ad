#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/learn/distil.hpp"
#include "harness/learn/forest.hpp"
#include "harness/learn/tree.hpp"

namespace espalier::bench::learn {

struct LearnOptions {
    std::uint64_t seed = 1;
    ForestOptions forest{};
    DistilOptions tree{};
    std::size_t measured_weight = 8;  ///< for how many drawn problems a measured one counts
    std::size_t folds = 10;           ///< that show whether a tree of many leaves is to be believed
    std::size_t draws = 1500;         ///< of the domain; what a matrix without any is learned by is its own problems
};

/// Learns a tree on `rows` and on the matrix's drawn problems, whose times forests of the `rows` predict. The values of
/// an optional category have trees of their own under a common root, as if they were families of their own: few
/// variants run more than one of them. A tree with more than a leaf for eight problems is one only if forests choose
/// better for held-out problems than one choice for all does; fewer problems than folds are believed as they are.
Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options = {});

/// The problems of `rows` with their losses, several times as heavy, then those of `drawn` with predicted ones.
Lesson lesson_of(const Matrix& matrix, std::span<const std::size_t> rows, std::span<const std::size_t> drawn,
                 const LearnOptions& options = {});

}  // namespace espalier::bench::learn
