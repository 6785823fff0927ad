#pragma once

#include "kernels/dispatch/refusal.hpp"
#include "kernels/problems/smallest_k.hpp"

namespace espalier::smallest_k {

inline std::optional<std::string> refusal_of(const Problem& problem) {
    if (auto refused = refused_k(problem.k)) return refused;
    return refused_count("columns", problem.columns);
}

}  // namespace espalier::smallest_k
