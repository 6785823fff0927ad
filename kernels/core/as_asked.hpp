#pragma once

#include "espalier/matrix_layout.hpp"

namespace espalier {

/// The problem that trees are asked about in place of a given one, and learn from: of two names of the same work the
/// one. A single row lies in memory as a row whatever layout it is given in, and the variants for rows run it. What
/// supports and runs a problem sees it as it was given. Where a family has one name for everything, the problem itself.
template <class P>
constexpr decltype(auto) as_asked(const P& problem) {
    if constexpr (requires { problem.layout, problem.has_rows(); }) {
        P asked = problem;
        if (problem.has_rows()) asked.layout = MatrixLayout::row_major;
        return asked;
    } else {
        return (problem);
    }
}

}  // namespace espalier
