#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/bench/emit/trained.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/learn/matrix.hpp"
#include "harness/bench/records/listed_problems.hpp"

namespace espalier::bench::learn {

/// The problems that trees are to be for more than for others.
struct ProblemMix {
    std::string file;    ///< that lists them
    std::string sha256;  ///< of the file
    std::vector<ListedProblem> problems;
};

/// Throws BadData as `read_listed_problems`.
ProblemMix read_mix(const std::string& file);

/// Weighs the problems of a matrix that the mix lists for this device, or for none: all of them together nine times as
/// much as everything else that a tree is grown on, each by its share of the time that a program's calls took; where
/// some were not timed, of the calls. `predicted_weight` is what problems count for that nobody measured, in problems:
/// those of devices that are alike are left out, so that a tree learned alone has the same weights. Problems that
/// differ in what a caller does not know share alike. Nothing, and a notice, if none of the family was measured. Other
/// notices say what of the file is of no use here.
std::optional<Weighting> weigh(const Family& family, const std::string& device_key, const ProblemMix& mix,
                               std::size_t predicted_weight, Matrix& matrix, std::vector<std::string>& notices);

/// Geometric mean of what a tree costs the weighed problems, by their shares.
double weighed_regret(const Matrix& matrix, const Tree& tree);

}  // namespace espalier::bench::learn
