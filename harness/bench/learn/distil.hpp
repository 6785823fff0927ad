#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/bench/learn/learn_options.hpp"
#include "harness/bench/learn/matrix.hpp"
#include "harness/bench/learn/tree.hpp"

namespace espalier::bench::learn {

/// The problems that a tree is grown on, as a matrix: the first `measured` rows were measured and the rest
/// predicted.
struct Lesson {
    Matrix matrix;
    std::size_t measured = 0;
    std::size_t weight = 0;     ///< of all its problems, a predicted one being 1; the matrix's weights do not count:
                                ///< what they add must not make leaves dearer for the other problems
    std::vector<char> evident;  ///< of each problem: it was measured, here or on a device that is alike
};

/// Grows a tree on all problems of a lesson and prunes it back for each of `prunings`, which take the place of
/// `LearnOptions::pruning`; the leaves have rows and no rankings yet. The split that lowers the total
/// loss most comes first; of equals one on a derived column, then the first column and the least threshold. Where no
/// single split pays the best pair of splits, one below the other, is looked for. Pruning is by
/// the per-leaf penalty. Thresholds are numbers that a person would choose.
std::vector<Tree> distil(const Lesson& lesson, const LearnOptions& options, std::span<const double> prunings);

/// The numbers that thresholds are taken from: those of the E12 series (IEC 60063), powers of two, and the whole
/// numbers up to 16.
std::span<const double> preferred_numbers();

}  // namespace espalier::bench::learn
