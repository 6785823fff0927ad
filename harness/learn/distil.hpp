#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/learn/learn_options.hpp"
#include "harness/learn/matrix.hpp"
#include "harness/learn/tree.hpp"

namespace espalier::bench::learn {

/// What a tree is grown on: the problems of a matrix, of which the first `measured` were measured and the rest
/// predicted.
struct Lesson {
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    Matrix matrix;
    std::size_t measured = 0;
    std::size_t weight = 0;  ///< of all its problems, a predicted one being 1
    std::vector<std::size_t>
        evidence{};  ///< of each problem: itself, or the nearest measured one, or kNone if that is far
};

/// Grows a tree on all problems of a lesson; its leaves have rows and no rankings yet. The split that lowers the total
/// loss most comes first; of equals one on a derived column, then the first column and the least threshold. Where no
/// single split pays the best pair of splits, one below the other, is looked for. Then the tree is pruned back by the
/// per-leaf penalty. Every leaf has a problem with evidence. Thresholds are numbers that a person would choose.
Tree distil(const Lesson& lesson, const LearnOptions& options);

/// The numbers that thresholds are taken from: those of the E12 series (IEC 60063), powers of two, and the whole
/// numbers up to 16.
std::span<const double> preferred_numbers();

}  // namespace espalier::bench::learn
