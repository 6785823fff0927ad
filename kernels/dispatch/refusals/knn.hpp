#pragma once

#include "kernels/dispatch/refusal.hpp"
#include "kernels/problems/knn.hpp"

namespace espalier::knn {

inline std::optional<std::string> refusal_of(const Problem& problem) {
    if (auto refused = refused_k(problem.k)) return refused;
    return refused_count("points", problem.points);
}

}  // namespace espalier::knn
